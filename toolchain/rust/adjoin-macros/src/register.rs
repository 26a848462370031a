//! Registrations: a table of addresses, by a name that the plugin knows, that the compiler keeps.

use crate::parse::{self, Tokens};
use crate::{error, tokens_of, Result};
use proc_macro::{Span, TokenStream, TokenTree};

/// The function, not inlined before the link, and behind it the table `{function, arguments…}`.
pub fn register(family: &str, count: usize, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut tokens: TokenStream = "#[inline(never)]".parse().expect("an attribute");
    tokens.extend(item.clone());
    tokens.extend(tokens_of(table(family, count, arguments, item)));
    tokens
}

fn table(family: &str, count: usize, arguments: TokenStream, item: TokenStream) -> Result<String> {
    let function = parse::function(item)?;
    if !function.generic_arguments.is_empty() {
        return error(function.span, "a generic function cannot be registered: its instances have different addresses");
    }
    let mut list = Tokens::new(arguments, Span::call_site());
    let mut entries = vec![format!("Entry({} as *const ())", function.name)];
    while !list.is_empty() {
        // A string, or the path of a function.
        if let Some(TokenTree::Literal(text)) = list.peek() {
            let text = text.to_string();
            list.next();
            let text = text.trim_matches('"');
            entries.push(format!("Entry(\"{text}\\0\".as_ptr() as *const ())"));
        } else {
            let path = list.until(|t| t.is_punct(','));
            entries.push(format!("Entry({path} as *const ())"));
        }
        list.take_punct(',');
    }
    if entries.len() != count + 1 {
        let s = if count == 1 { "" } else { "s" };
        return error(function.span, format!("this attribute takes {count} argument{s}"));
    }
    let place = format!("{}:{}", function.span.file(), function.span.line());
    let place: String = place.chars().filter(|c| !matches!(c, '"' | '\\')).collect();
    let name = format!("{family}{}@{place}", function.name);
    let size = entries.len();
    let entries = entries.join(", ");
    let cfg = &function.cfg;
    Ok(format!(
        "{cfg} const _: () = {{
            #[repr(transparent)] struct Entry(*const ());
            #[repr(transparent)] struct Table([Entry; {size}]);
            unsafe impl Sync for Table {{}}
            #[used] #[unsafe(export_name = \"{name}\")]
            static REGISTRATION: Table = Table([{entries}]);
        }};"
    ))
}
