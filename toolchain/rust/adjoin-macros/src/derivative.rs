//! The function that a derivative macro makes. It calls a marker on a shim, a closure without captures whose parameters are
//! scalars and thin pointers only, however the original takes its arguments:
//!
//! * a float or integer travels as itself,
//! * a slice as address and length,
//! * a reference as address,
//! * anything else (structs, arrays, tuples by value, `&dyn Trait`) by the address of a copy.
//!
//! The closure may name generic parameters and `Self`, which an item could not. The marker is declared by a name that
//! spells its signature, so that every declaration of it agrees.

use crate::activity::{Activity, Mode};
use crate::parse::{self, Kind, Parameter, Signature, Tokens, Type};
use crate::{error, Result};
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};
use std::fmt::Write;

/// What is asked for.
struct Request {
    mode: Mode,
    width: usize,
    /// The name of the derivative, its visibility.
    name: String,
    visibility: String,
    /// What the shim calls.
    callee: String,
    activities: Vec<Activity>,
    /// Const where the function returns nothing.
    result: Activity,
}

/// `#[autodiff_…(name, [width,] activities…)] fn …`
pub fn of_item(mode: Mode, arguments: TokenStream, item: TokenStream) -> Result<String> {
    let function = parse::function(item)?;
    let mut list = Tokens::new(arguments, Span::call_site());
    let name = list.identifier("the name of the derivative")?;
    let mut width = 1;
    let mut activities = Vec::new();
    while list.take_punct(',') && !list.is_empty() {
        if let (Some(TokenTree::Literal(number)), true) = (list.peek(), activities.is_empty()) {
            width = parse_width(mode, &number.to_string(), number.span())?;
            list.next();
        } else {
            activities.push(Activity::parse(mode, &mut list)?);
        }
    }
    if !list.is_empty() {
        return error(list.span(), "expected a comma");
    }
    let parameters = function.parameters.len();
    let mut result = Activity::Const;
    if activities.len() == parameters + 1 {
        result = activities.remove(parameters);
        if function.result.is_none() && result != Activity::Const {
            return error(function.span, "the function returns nothing: leave off the last activity");
        }
    } else if activities.len() != parameters {
        let wanted = if function.result.is_some() { parameters + 1 } else { parameters };
        return error(
            function.span,
            format!("{} activities for {parameters} parameters and a result: {wanted} are needed", activities.len()),
        );
    }
    let uses_self = function.parameters.iter().any(|p| p.is_receiver);
    let mut callee = if uses_self { format!("Self::{}", function.name) } else { function.name.clone() };
    if !function.generic_arguments.is_empty() {
        write!(callee, "::<{}>", function.generic_arguments.join(", ")).unwrap();
    }
    let visibility = function.visibility.clone();
    expand(&function, &Request { mode, width, name, visibility, callee, activities, result })
}

/// `[pub] name[[width]] = path(parameter: type as Activity, …) [-> type as Activity]`
pub fn of_path(mode: Mode, request: TokenStream) -> Result<String> {
    let mut tokens = Tokens::new(request, Span::call_site());
    let visibility = tokens.visibility();
    let is_unsafe = tokens.take_word("unsafe");
    let span = tokens.span();
    let name = tokens.identifier("the name of the derivative")?;
    let mut width = 1;
    if let Ok(mut inside) = tokens.group(Delimiter::Bracket, "") {
        let span = inside.span();
        width = parse_width(mode, &inside.next().map(|t| t.to_string()).unwrap_or_default(), span)?;
    }
    if !tokens.take_punct('=') {
        return error(tokens.span(), "expected `name = path(parameter: type as Activity, …)`");
    }
    let is_list = |t: &Tokens| matches!(t.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
    let callee = tokens.until(is_list).to_string();
    let mut list = tokens.group(Delimiter::Parenthesis, "the parameters")?;
    let mut parameters = Vec::new();
    let mut activities = Vec::new();
    while !list.is_empty() {
        let span = list.span();
        let name = list.identifier("a parameter's name")?;
        if !list.take_punct(':') {
            return error(list.span(), "expected `parameter: type as Activity`");
        }
        let (ty, activity) = typed_activity(mode, &mut list)?;
        parameters.push(Parameter { name, ty, is_receiver: false, span });
        activities.push(activity);
        list.take_punct(',');
    }
    let mut result = Activity::Const;
    let mut result_type = None;
    if tokens.take_arrow() {
        let (ty, activity) = typed_activity(mode, &mut tokens)?;
        result_type = Some(ty);
        result = activity;
    }
    tokens.take_punct(';');
    if !tokens.is_empty() {
        return error(tokens.span(), "expected the end of the request");
    }
    let function = Signature {
        cfg: String::new(),
        visibility: visibility.clone(),
        is_unsafe,
        name: callee.clone(),
        span,
        generics: String::new(),
        generic_arguments: Vec::new(),
        where_clause: String::new(),
        parameters,
        result: result_type,
    };
    expand(&function, &Request { mode, width, name, visibility, callee, activities, result })
}

fn typed_activity(mode: Mode, tokens: &mut Tokens) -> Result<(Type, Activity)> {
    let ty = parse::ty(tokens.until(|t| t.is_word("as") || t.is_punct(',')));
    if !tokens.take_word("as") {
        return error(tokens.span(), "expected `type as Activity`");
    }
    Ok((ty, Activity::parse(mode, tokens)?))
}

fn parse_width(mode: Mode, text: &str, span: Span) -> Result<usize> {
    match text.parse() {
        Ok(0) => error(span, "the width is at least 1"),
        Ok(width) if mode == Mode::Forward || width == 1 => Ok(width),
        Ok(_) => error(span, "reverse mode has no width"),
        Err(_) => error(span, "expected the width, a number"),
    }
}

/// The pieces that the parameters contribute.
#[derive(Default)]
struct Code {
    width: usize,
    /// Parameters of the derivative.
    signature: Vec<String>,
    /// Statements before the marker call.
    before: String,
    /// Parameters of the shim, and the arguments that it calls the original with.
    shim: Vec<String>,
    call: Vec<String>,
    /// Arguments of the marker, their types, and the letters that spell them in its name.
    arguments: Vec<String>,
    types: Vec<String>,
    spelling: String,
    /// Tags that are used.
    tags: Vec<&'static str>,
    /// Types of the adjoints that the marker returns.
    returned: Vec<String>,
    /// The derivative's results after the value, as types and expressions.
    results: Vec<(String, String)>,
}

impl Code {
    fn tag(&mut self, tag: &'static str) {
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
        self.argument(format!("&raw const {tag}"), "*const i32", 't');
    }
    fn argument(&mut self, value: impl Into<String>, ty: &str, letter: char) {
        self.arguments.push(value.into());
        self.types.push(ty.into());
        self.spelling.push(letter);
    }
    fn scalar(&mut self, value: impl Into<String>, ty: &str) {
        self.arguments.push(value.into());
        self.types.push(ty.into());
        self.spelling.push_str(&format!("_{ty}_"));
    }
    fn address(&mut self, value: impl Into<String>) {
        self.argument(value, "*const u8", 'p');
    }
    fn length(&mut self, value: impl Into<String>) {
        self.argument(value, "usize", 'n');
    }
    /// A pointer with its shadows: dup for each lane, or one base and the stride.
    fn duplicated(&mut self, tag: &'static str, primal: String, shadows: &[String]) {
        self.tag(tag);
        self.address(primal);
        for shadow in shadows {
            self.address(shadow.clone());
        }
    }
}

fn expand(function: &Signature, request: &Request) -> Result<String> {
    let forward = request.mode == Mode::Forward;
    let mut code = Code { width: request.width, ..Default::default() };
    let result = function.result.as_ref();
    if request.width > 1 {
        code.tag("adjoin_width");
        code.argument(request.width.to_string(), "i32", 'w');
    }

    // A float result of forward mode comes from the marker. Any other result, and reverse mode's, which has a seed, goes
    // through memory: the shim writes it, its shadow is the tangent or the seed.
    let by_value = forward && matches!(result, Some(Type { kind: Kind::Float, .. }));
    if by_value {
        match request.result {
            Activity::Dual => code.tag("adjoin_primal_return"),
            Activity::Const => {
                code.tag("adjoin_primal_return");
                code.tag("adjoin_const_return");
            }
            Activity::Dualv => return error(function.span, "a result is Dual, DualOnly or Const"),
            _ => {}
        }
    } else if let Some(ty) = result {
        memory_result(&mut code, request, &ty.source, function.span)?;
    }
    for (parameter, activity) in function.parameters.iter().zip(&request.activities) {
        argument(&mut code, request.mode, parameter, *activity)?;
    }
    let seeded = matches!(request.result, Activity::Active | Activity::ActiveOnly);
    if let (Some(ty), true) = (result, seeded) {
        code.signature.push(format!("adjoin_seed: {}", ty.source));
    }

    // The shim.
    let call = format!("{}({})", request.callee, code.call.join(", "));
    let (body, shim_result) = match result {
        Some(ty) if by_value => (call, format!(" -> {}", ty.source)),
        Some(ty) => (format!("::core::ptr::write(adjoin_result as *mut {}, {call})", ty.source), String::new()),
        None => (call, String::new()),
    };
    let shim_types: Vec<&str> = code.shim.iter().map(|p| p.split_once(": ").expect("name: type").1).collect();
    let shim_types = shim_types.join(", ");

    // The marker and its result.
    let (marker, returned) = marker_result(&code, request, by_value, result);
    let results = results(&code, request, by_value, result);
    let (result_type, result_value) = match &results[..] {
        [] => (String::new(), String::new()),
        [(ty, value)] => (format!(" -> {ty}"), value.clone()),
        several => {
            let types: Vec<&str> = several.iter().map(|r| r.0.as_str()).collect();
            let values: Vec<&str> = several.iter().map(|r| r.1.as_str()).collect();
            (format!(" -> ({})", types.join(", ")), format!("({})", values.join(", ")))
        }
    };
    let marker = format!("{marker}_{}", code.spelling);
    let declared_result = match returned.as_str() {
        "" => String::new(),
        ty => format!(" -> {ty}"),
    };
    let structure = structure(&code, request, by_value, result);

    let Signature { cfg, generics, where_clause, .. } = function;
    let generics = if generics.is_empty() { String::new() } else { format!("<{generics}>") };
    let qualifier = if function.is_unsafe { "unsafe " } else { "" };
    let mut tags = String::new();
    for tag in &code.tags {
        write!(tags, "static {tag}: i32; ").unwrap();
    }
    let mut declared = String::new();
    for (index, ty) in code.types.iter().enumerate() {
        write!(declared, ", a{index}: {ty}").unwrap();
    }
    Ok(format!(
        "{cfg}
        #[allow(unused, non_snake_case, improper_ctypes, clippy::all)]
        {visibility} {qualifier} fn {name}{generics}({signature}){result_type} {where_clause} {{
            {structure}
            unsafe extern \"C-unwind\" {{
                fn {marker}(function: *const (){declared}){declared_result};
                {tags}
            }}
            let adjoin_shim: unsafe fn({shim_types}){shim_result} = |{shim}| unsafe {{ {body} }};
            {before}
            let adjoin_returned = unsafe {{ {marker}(adjoin_shim as *const (), {arguments}) }};
            {result_value}
        }}",
        visibility = request.visibility,
        name = request.name,
        signature = code.signature.join(", "),
        shim = code.shim.join(", "),
        before = code.before,
        arguments = code.arguments.join(", "),
    ))
}

/// The name of the marker without the letters of its arguments, and its return type.
fn marker_result(code: &Code, request: &Request, by_value: bool, result: Option<&Type>) -> (String, String) {
    if request.mode == Mode::Reverse {
        return match &code.returned[..] {
            [] => ("__adjoin_autodiff_rust_void".into(), String::new()),
            [one] => (format!("__adjoin_autodiff_rust_{one}"), one.clone()),
            several => (format!("__adjoin_autodiff_rust_{}", several.join("_")), "AdjoinReturned".into()),
        };
    }
    let ty = match result {
        Some(ty) if by_value => ty.source.as_str(),
        _ => return ("__adjoin_fwddiff_rust_void".into(), String::new()),
    };
    let width = request.width;
    match request.result {
        Activity::Const => (format!("__adjoin_fwddiff_rust_value_{ty}"), ty.into()),
        Activity::Dual => (format!("__adjoin_fwddiff_rust_both_{ty}_{width}"), "AdjoinReturned".into()),
        _ if width == 1 => (format!("__adjoin_fwddiff_rust_{ty}"), ty.into()),
        _ => (format!("__adjoin_fwddiff_rust_{ty}_{width}"), "AdjoinReturned".into()),
    }
}

/// The struct that the marker returns, where it returns one.
fn structure(code: &Code, request: &Request, by_value: bool, result: Option<&Type>) -> String {
    let members: Vec<String> = match (request.mode, result) {
        (Mode::Reverse, _) if code.returned.len() > 1 => code.returned.clone(),
        (Mode::Forward, Some(ty)) if by_value => {
            let tangent = tangent_type(&ty.source, request.width);
            match request.result {
                Activity::Dual => vec![ty.source.clone(), tangent],
                Activity::DualOnly if request.width > 1 => vec![tangent],
                _ => vec![],
            }
        }
        _ => vec![],
    };
    if members.is_empty() {
        return String::new();
    }
    format!("#[repr(C)] #[derive(Clone, Copy)] struct AdjoinReturned({});", members.join(", "))
}

fn tangent_type(ty: &str, width: usize) -> String {
    if width == 1 {
        ty.into()
    } else {
        format!("[{ty}; {width}]")
    }
}

/// The derivative's results: types and expressions.
fn results(code: &Code, request: &Request, by_value: bool, result: Option<&Type>) -> Vec<(String, String)> {
    let mut results = Vec::new();
    if let Some(Type { source: ty, .. }) = result {
        let tangent = tangent_type(ty, request.width);
        let value = "unsafe { adjoin_result.assume_init() }";
        match request.result {
            Activity::Dual if by_value => {
                results.push((ty.clone(), "adjoin_returned.0".into()));
                results.push((tangent, "adjoin_returned.1".into()));
            }
            Activity::DualOnly if by_value && request.width > 1 => results.push((tangent, "adjoin_returned.0".into())),
            _ if by_value => results.push((ty.clone(), "adjoin_returned".into())),
            Activity::Dual => {
                results.push((ty.clone(), value.into()));
                results.push((tangent, "unsafe { adjoin_tangent.assume_init() }".into()));
            }
            Activity::DualOnly => results.push((tangent, "unsafe { adjoin_tangent.assume_init() }".into())),
            Activity::ActiveOnly | Activity::DuplicatedOnly => {}
            _ => results.push((ty.clone(), value.into())),
        }
    }
    let mut returned = 0;
    for (ty, value) in &code.results {
        let value: String = match value.as_str() {
            "" if code.returned.len() == 1 => "adjoin_returned".into(),
            "" => format!("adjoin_returned.{returned}"),
            other => other.into(),
        };
        returned += value.starts_with("adjoin_returned") as usize;
        results.push((ty.clone(), value));
    }
    results
}

/// A result that the shim writes to memory.
fn memory_result(code: &mut Code, request: &Request, ty: &str, span: Span) -> Result<()> {
    code.shim.push("adjoin_result: *const u8".into());
    write!(code.before, "let mut adjoin_result = ::core::mem::MaybeUninit::<{ty}>::uninit();").unwrap();
    let primal = "adjoin_result.as_mut_ptr() as *const u8".to_string();
    match request.result {
        Activity::Const => {
            code.tag("adjoin_const");
            code.address(primal);
        }
        Activity::Active | Activity::ActiveOnly => {
            // What is overwritten has its shadow consumed: the seed.
            code.before += "let mut adjoin_seed = adjoin_seed;";
            let only = request.result == Activity::ActiveOnly;
            let tag = if only { "adjoin_dupnoneed" } else { "adjoin_dup" };
            code.duplicated(tag, primal, &["&raw mut adjoin_seed as *const u8".into()]);
        }
        Activity::Dual | Activity::DualOnly => {
            let all = tangent_type(ty, request.width);
            write!(code.before, "let mut adjoin_tangent = ::core::mem::MaybeUninit::<{all}>::zeroed();").unwrap();
            let shadows: Vec<String> = (0..request.width)
                .map(|k| format!("unsafe {{ (adjoin_tangent.as_mut_ptr() as *mut {ty}).add({k}) as *const u8 }}"))
                .collect();
            code.duplicated("adjoin_dup", primal, &shadows);
        }
        other => return error(span, format!("a result cannot be {other:?}")),
    }
    Ok(())
}

/// What one parameter contributes.
fn argument(code: &mut Code, mode: Mode, parameter: &Parameter, activity: Activity) -> Result<()> {
    let name = parameter.name.clone();
    let source = &parameter.ty.source;
    let shadowed = matches!(
        activity,
        Activity::Dual | Activity::DualOnly | Activity::Dualv | Activity::Duplicated | Activity::DuplicatedOnly
    );
    let active = matches!(activity, Activity::Active | Activity::ActiveOnly);
    let tag = match activity {
        Activity::DualOnly | Activity::DuplicatedOnly => "adjoin_dupnoneed",
        _ => "adjoin_dup",
    };
    if matches!(parameter.ty.kind, Kind::Integer) && activity != Activity::Const {
        return error(parameter.span, format!("`{name}` is no float: its activity is Const"));
    }
    // The parameter itself, as it is.
    code.signature.push(match (parameter.is_receiver, source.as_str()) {
        (true, "Self") => "self".into(),
        _ => format!("{name}: {source}"),
    });
    let lanes = if activity == Activity::Dualv { 1 } else { code.width };
    let shadow_names: Vec<String> = match (shadowed, lanes) {
        (false, _) => vec![],
        (true, 1) => vec![format!("d_{name}")],
        (true, lanes) => (0..lanes).map(|k| format!("d{k}_{name}")).collect(),
    };
    // Inside the shim `self` is a name like any other.
    let wire = if parameter.is_receiver { "adjoin_self".to_string() } else { name.clone() };
    let reborrow = |mutable: bool| if mutable { "&mut " } else { "& " };

    match &parameter.ty.kind {
        Kind::Float => {
            code.shim.push(format!("{wire}: {source}"));
            code.call.push(wire);
            if active {
                code.tag("adjoin_out");
                code.scalar(name, source);
                code.returned.push(source.clone());
                code.results.push((source.clone(), String::new()));
            } else if mode == Mode::Reverse && shadowed {
                return error(parameter.span, "a float by value is Active or Const");
            } else if shadowed {
                code.tag("adjoin_dup");
                code.scalar(name, source);
                if activity == Activity::Dualv {
                    code.signature.push(format!("{}: [{source}; {}]", shadow_names[0], code.width));
                    for k in 0..code.width {
                        code.scalar(format!("{}[{k}]", shadow_names[0]), source);
                    }
                } else {
                    for shadow in shadow_names {
                        code.signature.push(format!("{shadow}: {source}"));
                        code.scalar(shadow, source);
                    }
                }
            } else {
                code.tag("adjoin_const");
                code.scalar(name, source);
            }
        }
        Kind::Integer => {
            code.shim.push(format!("{wire}: {source}"));
            code.call.push(wire);
            code.tag("adjoin_const");
            code.scalar(name, source);
        }
        Kind::Slice { mutable, lifetime, element } => {
            let length = format!("{wire}_length");
            code.shim.push(format!("{wire}: *const u8"));
            code.shim.push(format!("{length}: usize"));
            code.call.push(match mutable {
                true => format!("::core::slice::from_raw_parts_mut({wire} as *mut {element}, {length})"),
                false => format!("::core::slice::from_raw_parts({wire} as *const {element}, {length})"),
            });
            let address = if *mutable { "as_mut_ptr" } else { "as_ptr" };
            let primal = format!("{name}.{address}() as *const u8");
            if active {
                return error(parameter.span, "a slice is Duplicated or Const: only values are Active");
            }
            if shadowed {
                let writes = *mutable || mode == Mode::Reverse;
                let qualifier = if writes { "mut " } else { "" };
                let address = if writes { "as_mut_ptr" } else { "as_ptr" };
                let times = if activity == Activity::Dualv { code.width } else { 1 };
                for shadow in &shadow_names {
                    code.signature.push(format!("{shadow}: &{lifetime}{qualifier}[{element}]"));
                    write!(
                        code.before,
                        "assert_eq!({shadow}.len(), {times} * {name}.len(), \"adjoin: the shadow of `{name}` has another length\");"
                    )
                    .unwrap();
                }
                let shadows: Vec<String> =
                    shadow_names.iter().map(|s| format!("{s}.{address}() as *const u8")).collect();
                if activity == Activity::Dualv {
                    code.tag("adjoin_dupv");
                    code.length(format!("::core::mem::size_of_val(&*{name})"));
                    code.address(primal);
                    code.address(shadows[0].clone());
                } else {
                    code.duplicated(tag, primal, &shadows);
                }
            } else {
                code.tag("adjoin_const");
                code.address(primal);
            }
            code.tag("adjoin_const");
            code.length(format!("{name}.len()"));
        }
        Kind::Reference { mutable, lifetime, target } => {
            code.shim.push(format!("{wire}: *const u8"));
            code.call.push(format!("{}*({wire} as *mut {target})", reborrow(*mutable)));
            if active {
                return error(parameter.span, "a reference is Duplicated or Const: only values are Active");
            }
            let pointer = if *mutable { "&raw mut" } else { "&raw const" };
            let primal = format!("{pointer} *{name} as *const u8");
            if shadowed {
                let writes = *mutable || mode == Mode::Reverse;
                let qualifier = if writes { "mut " } else { "" };
                let pointer = if writes { "&raw mut" } else { "&raw const" };
                let ty =
                    if activity == Activity::Dualv { format!("[{target}; {}]", code.width) } else { target.clone() };
                for shadow in &shadow_names {
                    code.signature.push(format!("{shadow}: &{lifetime}{qualifier}{ty}"));
                }
                let shadows: Vec<String> =
                    shadow_names.iter().map(|s| format!("{pointer} *{s} as *const u8")).collect();
                if activity == Activity::Dualv {
                    code.tag("adjoin_dupv");
                    code.length(format!("::core::mem::size_of::<{target}>()"));
                    code.address(primal);
                    code.address(shadows[0].clone());
                } else {
                    code.duplicated(tag, primal, &shadows);
                }
            } else {
                code.tag("adjoin_const");
                code.address(primal);
            }
        }
        Kind::Pointer { target } => {
            code.shim.push(format!("{wire}: *const u8"));
            code.call.push(format!("{wire} as {source}"));
            if active {
                return error(parameter.span, "a pointer is Duplicated or Const: only values are Active");
            }
            if activity == Activity::Dualv {
                return error(parameter.span, "Dualv needs a slice, a reference or a float");
            }
            let primal = format!("{name} as *const u8");
            if shadowed {
                let ty = if mode == Mode::Reverse { format!("*mut {target}") } else { source.clone() };
                for shadow in &shadow_names {
                    code.signature.push(format!("{shadow}: {ty}"));
                }
                let shadows: Vec<String> = shadow_names.iter().map(|s| format!("{s} as *const u8")).collect();
                code.duplicated(tag, primal, &shadows);
            } else {
                code.tag("adjoin_const");
                code.address(primal);
            }
        }
        Kind::Fat { .. } | Kind::Value => {
            // By the address of a copy, which the shim moves out.
            let held = format!("adjoin_held_{wire}");
            write!(code.before, "let {held} = ::core::mem::ManuallyDrop::new({name});").unwrap();
            code.shim.push(format!("{wire}: *const u8"));
            code.call.push(format!("::core::ptr::read({wire} as *const {source})"));
            let primal = format!("&raw const {held} as *const u8");
            if active {
                let adjoint = format!("adjoin_adjoint_{wire}");
                write!(code.before, "let mut {adjoint} = ::core::mem::MaybeUninit::<{source}>::zeroed();").unwrap();
                code.duplicated("adjoin_dup", primal, &[format!("{adjoint}.as_mut_ptr() as *const u8")]);
                code.results.push((source.clone(), format!("unsafe {{ {adjoint}.assume_init() }}")));
            } else if shadowed {
                let ty = match &parameter.ty.kind {
                    Kind::Fat { lifetime, target } if mode == Mode::Reverse => format!("&{lifetime}mut {target}"),
                    _ => source.clone(),
                };
                if activity == Activity::Dualv {
                    return error(parameter.span, "Dualv needs a slice, a reference or a float");
                }
                let mut shadows = Vec::new();
                for shadow in &shadow_names {
                    code.signature.push(format!("{shadow}: {ty}"));
                    write!(code.before, "let adjoin_held_{shadow} = ::core::mem::ManuallyDrop::new({shadow});")
                        .unwrap();
                    shadows.push(format!("&raw const adjoin_held_{shadow} as *const u8"));
                }
                code.duplicated(tag, primal, &shadows);
            } else {
                code.tag("adjoin_const");
                code.address(primal);
            }
        }
    }
    Ok(())
}
