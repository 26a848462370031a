//! The macros of the crate `adjoin`; see there. Tokens in, tokens out, without any dependency.

mod activity;
mod derivative;
mod parse;
mod register;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// What is wrong with the use of a macro, and where.
struct Error {
    message: String,
    span: Span,
}

type Result<T> = std::result::Result<T, Error>;

fn error<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(Error { message: format!("adjoin: {}", message.into()), span })
}

impl Error {
    /// `compile_error!("…");` at the place of the mistake.
    fn into_tokens(self) -> TokenStream {
        let at = |mut tree: TokenTree| {
            tree.set_span(self.span);
            tree
        };
        let message = TokenStream::from(at(Literal::string(&self.message).into()));
        TokenStream::from_iter([
            at(Ident::new("compile_error", self.span).into()),
            at(Punct::new('!', Spacing::Alone).into()),
            at(Group::new(Delimiter::Parenthesis, message).into()),
            at(Punct::new(';', Spacing::Alone).into()),
        ])
    }
}

/// The item as it was, and what the macro adds.
fn beside(item: TokenStream, added: Result<String>) -> TokenStream {
    let mut tokens = item;
    tokens.extend(tokens_of(added));
    tokens
}

fn tokens_of(source: Result<String>) -> TokenStream {
    match source {
        Ok(source) => source.parse().unwrap_or_else(|error| {
            let message = format!("the macro made what does not parse: {error}");
            Error { message, span: Span::call_site() }.into_tokens()
        }),
        Err(error) => error.into_tokens(),
    }
}

#[proc_macro_attribute]
pub fn autodiff_forward(arguments: TokenStream, item: TokenStream) -> TokenStream {
    beside(item.clone(), derivative::of_item(activity::Mode::Forward, arguments, item))
}

#[proc_macro_attribute]
pub fn autodiff_reverse(arguments: TokenStream, item: TokenStream) -> TokenStream {
    beside(item.clone(), derivative::of_item(activity::Mode::Reverse, arguments, item))
}

#[proc_macro]
pub fn forward(request: TokenStream) -> TokenStream {
    tokens_of(derivative::of_path(activity::Mode::Forward, request))
}

#[proc_macro]
pub fn reverse(request: TokenStream) -> TokenStream {
    tokens_of(derivative::of_path(activity::Mode::Reverse, request))
}

#[proc_macro_attribute]
pub fn inactive(arguments: TokenStream, item: TokenStream) -> TokenStream {
    register::register("__adjoin_inactivefn_", 0, arguments, item)
}

#[proc_macro_attribute]
pub fn derivative(arguments: TokenStream, item: TokenStream) -> TokenStream {
    register::register("__adjoin_register_derivative_", 1, arguments, item)
}

#[proc_macro_attribute]
pub fn gradient(arguments: TokenStream, item: TokenStream) -> TokenStream {
    register::register("__adjoin_register_gradient_", 2, arguments, item)
}

#[proc_macro_attribute]
pub fn like(arguments: TokenStream, item: TokenStream) -> TokenStream {
    register::register("__adjoin_function_like_", 1, arguments, item)
}

#[proc_macro_attribute]
pub fn nofree(arguments: TokenStream, item: TokenStream) -> TokenStream {
    register::register("__adjoin_nofree_", 0, arguments, item)
}
