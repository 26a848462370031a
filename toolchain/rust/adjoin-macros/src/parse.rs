//! A small parser of function signatures: just enough to say what the parameters are.

use crate::{error, Result};
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// A function's signature. Types and generics are source text.
pub struct Signature {
    /// `#[cfg(…)]` attributes: what is made for the function is there when it is.
    pub cfg: String,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: String,
    pub is_unsafe: bool,
    pub name: String,
    pub span: Span,
    /// `'a, T: Trait, const N: usize` without the angle brackets.
    pub generics: String,
    /// `T, N`: what a turbofish takes.
    pub generic_arguments: Vec<String>,
    pub where_clause: String,
    pub parameters: Vec<Parameter>,
    /// None for `()`.
    pub result: Option<Type>,
}

pub struct Parameter {
    pub name: String,
    pub ty: Type,
    /// `self`, `&self`, `&mut self`.
    pub is_receiver: bool,
    pub span: Span,
}

/// A type, and what its tokens tell.
#[derive(Clone)]
pub struct Type {
    pub source: String,
    pub kind: Kind,
}

#[derive(Clone)]
pub enum Kind {
    Float,
    /// An integer, bool or char: no derivative.
    Integer,
    /// `&[T]`, `&mut [T]`: the element type.
    Slice {
        mutable: bool,
        lifetime: String,
        element: String,
    },
    /// `&T`, `&mut T`.
    Reference {
        mutable: bool,
        lifetime: String,
        target: String,
    },
    /// `&dyn Trait` and the like, two words.
    Fat {
        lifetime: String,
        target: String,
    },
    Pointer {
        target: String,
    },
    /// Anything else, by value.
    Value,
}

/// Tokens with a position.
pub struct Tokens {
    trees: Vec<TokenTree>,
    at: usize,
    end: Span,
}

impl Tokens {
    pub fn new(stream: TokenStream, end: Span) -> Self {
        Tokens { trees: stream.into_iter().collect(), at: 0, end }
    }
    pub fn peek(&self) -> Option<&TokenTree> {
        self.trees.get(self.at)
    }
    pub fn next(&mut self) -> Option<TokenTree> {
        let tree = self.trees.get(self.at).cloned();
        self.at += 1;
        tree
    }
    pub fn span(&self) -> Span {
        self.peek().map_or(self.end, |tree| tree.span())
    }
    pub fn is_empty(&self) -> bool {
        self.at >= self.trees.len()
    }
    pub fn is_punct(&self, c: char) -> bool {
        matches!(self.peek(), Some(TokenTree::Punct(p)) if p.as_char() == c)
    }
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(TokenTree::Ident(i)) if i.to_string() == word)
    }
    pub fn take_punct(&mut self, c: char) -> bool {
        let found = self.is_punct(c);
        self.at += found as usize;
        found
    }
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += found as usize;
        found
    }
    /// `->`
    pub fn take_arrow(&mut self) -> bool {
        let found = self.is_punct('-')
            && matches!(self.trees.get(self.at + 1), Some(TokenTree::Punct(p)) if p.as_char() == '>');
        self.at += 2 * found as usize;
        found
    }
    pub fn identifier(&mut self, what: &str) -> Result<String> {
        match self.peek() {
            Some(TokenTree::Ident(i)) => {
                let name = i.to_string();
                self.at += 1;
                Ok(name)
            }
            _ => error(self.span(), format!("expected {what}")),
        }
    }
    pub fn group(&mut self, delimiter: Delimiter, what: &str) -> Result<Tokens> {
        match self.peek() {
            Some(TokenTree::Group(g)) if g.delimiter() == delimiter => {
                let inside = Tokens::new(g.stream(), g.span_close());
                self.at += 1;
                Ok(inside)
            }
            _ => error(self.span(), format!("expected {what}")),
        }
    }
    /// All tokens up to one for which `stop` holds outside of angle brackets, which is not taken.
    pub fn until(&mut self, stop: impl Fn(&Tokens) -> bool) -> TokenStream {
        let mut taken = Vec::new();
        let mut depth = 0usize;
        while !self.is_empty() && !(depth == 0 && stop(self)) {
            if self.take_arrow() {
                taken.extend_from_slice(&self.trees[self.at - 2..self.at]);
                continue;
            }
            if self.is_punct('<') {
                depth += 1;
            } else if self.is_punct('>') {
                depth = depth.saturating_sub(1);
            }
            taken.extend(self.next());
        }
        TokenStream::from_iter(taken)
    }
    /// `#[…]` attributes; keeps the `cfg` ones.
    fn attributes(&mut self) -> String {
        let mut cfg = String::new();
        while self.take_punct('#') {
            if let Some(TokenTree::Group(g)) = self.next() {
                let text = g.stream().to_string();
                if text.starts_with("cfg") {
                    cfg += &format!("#[{text}] ");
                }
            }
        }
        cfg
    }
    pub fn visibility(&mut self) -> String {
        if !self.take_word("pub") {
            return String::new();
        }
        match self.peek() {
            Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis => {
                let text = format!("pub{g}");
                self.at += 1;
                text
            }
            _ => "pub".into(),
        }
    }
}

/// The signature of a function item.
pub fn function(item: TokenStream) -> Result<Signature> {
    let mut tokens = Tokens::new(item, Span::call_site());
    let cfg = tokens.attributes();
    let visibility = tokens.visibility();
    let mut is_unsafe = false;
    loop {
        if tokens.take_word("unsafe") {
            is_unsafe = true;
        } else if tokens.take_word("extern") {
            if let Some(TokenTree::Literal(_)) = tokens.peek() {
                tokens.next();
            }
        } else if tokens.is_word("async") {
            return error(tokens.span(), "an async function cannot be differentiated");
        } else if !tokens.take_word("const") && !tokens.take_word("safe") {
            break;
        }
    }
    if !tokens.take_word("fn") {
        return error(tokens.span(), "this attribute is for functions");
    }
    let span = tokens.span();
    let name = tokens.identifier("the function's name")?;
    let mut generics = String::new();
    let mut generic_arguments = Vec::new();
    if tokens.take_punct('<') {
        let list = tokens.until(|t| t.is_punct('>'));
        tokens.next();
        generic_arguments = generic_names(list.clone());
        generics = list.to_string();
    }
    let mut list = tokens.group(Delimiter::Parenthesis, "the function's parameters")?;
    let mut parameters = Vec::new();
    while !list.is_empty() {
        parameters.push(parameter(&mut list, parameters.len())?);
        list.take_punct(',');
    }
    let stop = |t: &Tokens| {
        t.is_word("where")
            || t.is_punct(';')
            || matches!(t.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Brace)
    };
    let result = if tokens.take_arrow() { Some(tokens.until(stop)) } else { None };
    let where_clause = tokens.until(|t| {
        t.is_punct(';') || matches!(t.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Brace)
    });
    Ok(Signature {
        cfg,
        visibility,
        is_unsafe,
        name,
        span,
        generics,
        generic_arguments,
        where_clause: where_clause.to_string(),
        parameters,
        result: result.map(ty).filter(|r| r.source != "()"),
    })
}

fn parameter(list: &mut Tokens, index: usize) -> Result<Parameter> {
    list.attributes();
    let span = list.span();
    let pattern = list.until(|t| t.is_punct(':') || t.is_punct(','));
    let words: Vec<String> = pattern.into_iter().map(|t| t.to_string()).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.last() == Some(&"self") && !list.is_punct(':') {
        // &'a mut self
        let source = match words[0] {
            "&" => format!("{} Self", words[..words.len() - 1].join(" ").replace("' ", "'")),
            _ => "Self".into(),
        };
        let ty = ty(source.parse().expect("a type"));
        return Ok(Parameter { name: "self".into(), ty, is_receiver: true, span });
    }
    if !list.take_punct(':') {
        return error(span, "expected `name: type`");
    }
    let ty = ty(list.until(|t| t.is_punct(',')));
    if words.first() == Some(&"mut") {
        words.remove(0);
    }
    let (name, is_receiver) = match words[..] {
        ["self"] => ("self".into(), true),
        [name] if name != "_" => (name.into(), false),
        _ => (format!("argument_{index}"), false),
    };
    Ok(Parameter { name, ty, is_receiver, span })
}

/// The names in a list of generic parameters that a turbofish takes: types and constants, no lifetimes.
fn generic_names(list: TokenStream) -> Vec<String> {
    let mut tokens = Tokens::new(list, Span::call_site());
    let mut names = Vec::new();
    while !tokens.is_empty() {
        if !tokens.is_punct('\'') {
            tokens.take_word("const");
            if let Some(TokenTree::Ident(name)) = tokens.peek() {
                names.push(name.to_string());
            }
        }
        tokens.until(|t| t.is_punct(','));
        tokens.next();
    }
    names
}

/// Reads a type.
pub fn ty(stream: TokenStream) -> Type {
    let source = stream.to_string();
    let mut tokens = Tokens::new(stream, Span::call_site());
    let kind = match source.as_str() {
        "f32" | "f64" => Kind::Float,
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" | "bool" | "char" => {
            Kind::Integer
        }
        _ => kind(&mut tokens),
    };
    Type { source, kind }
}

fn kind(tokens: &mut Tokens) -> Kind {
    let is_slice = |t: &Tokens| match t.peek() {
        Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Bracket => {
            let mut inside = Tokens::new(g.stream(), g.span_close());
            let element = inside.until(|t| t.is_punct(';'));
            inside.is_empty().then(|| element.to_string())
        }
        _ => None,
    };
    let is_fat = |t: &Tokens| {
        t.is_word("dyn")
            || t.is_word("str")
            || matches!(t.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis
                && g.stream().to_string().starts_with("dyn"))
    };
    if tokens.take_punct('&') {
        let mut lifetime = String::new();
        if tokens.take_punct('\'') {
            lifetime = format!("'{} ", tokens.next().map(|t| t.to_string()).unwrap_or_default());
        }
        let mutable = tokens.take_word("mut");
        if let Some(element) = is_slice(tokens) {
            return Kind::Slice { mutable, lifetime, element };
        }
        let fat = is_fat(tokens);
        let target = tokens.until(|_| false).to_string();
        if fat {
            return Kind::Fat { lifetime, target };
        }
        return Kind::Reference { mutable, lifetime, target };
    }
    if tokens.take_punct('*') {
        tokens.next(); // const, mut
        if is_slice(tokens).is_none() && !is_fat(tokens) {
            return Kind::Pointer { target: tokens.until(|_| false).to_string() };
        }
    }
    Kind::Value
}
