// The row language: a recursive-descent parser.
#include "ad/rules/RowLanguage.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace adjoin;

namespace {

struct NamedConstant {
  StringLiteral Name;
  StringLiteral Digits; ///< enough for 113 bits
};

constexpr NamedConstant Constants[] = {
    {"pi", "3.14159265358979323846264338327950288"},
    {"inv_pi", "0.318309886183790671537767526745028724"},
    {"ln2", "0.693147180559945309417232121458176568"},
    {"ln10", "2.30258509299404568401799145468436421"},
    {"log2e", "1.44269504088896340735992468100189214"},
    {"log10e", "0.434294481903251827651128918916605082"},
    {"two_over_sqrt_pi", "1.12837916709551257389615890312154517"},
};

} // namespace

namespace adjoin {

class RowParser {
public:
  RowParser(StringRef Text, StringRef Params) : Rest(Text), Params(Params) {}

  std::optional<RowFormula> run(std::string &Error) {
    parseChoice();
    if (Message.empty() && !peek().empty())
      fail("text after the end of the formula");
    if (!Message.empty()) {
      Error = Message;
      return std::nullopt;
    }
    return std::move(Formula);
  }

private:
  StringRef Rest, Params;
  RowFormula Formula;
  std::string Message;

  unsigned fail(const Twine &What) {
    if (Message.empty())
      Message = (What + " before '" + Rest + "'").str();
    Rest = "";
    return 0;
  }
  StringRef peek() { return Rest = Rest.ltrim(); }
  bool take(StringRef Token) {
    return peek().starts_with(Token) && Rest.consume_front(Token);
  }
  unsigned make(RowNode::Kind K, ArrayRef<unsigned> Children,
                StringRef Text = "", unsigned Index = 0) {
    RowNode N;
    N.K = K;
    N.Text = Text;
    N.Index = Index;
    N.Children.append(Children.begin(), Children.end());
    Formula.Nodes.push_back(std::move(N));
    return Formula.Nodes.size() - 1;
  }

  unsigned parseChoice() {
    unsigned Condition = parseOr();
    if (!take("?"))
      return Condition;
    unsigned First = parseChoice();
    if (!take(":"))
      return fail("expected ':'");
    unsigned Second = parseChoice();
    return make(RowNode::Choose, {Condition, First, Second});
  }
  unsigned parseOr() {
    unsigned L = parseAnd();
    while (take("||")) {
      unsigned R = parseAnd();
      L = make(RowNode::Or, {L, R});
    }
    return L;
  }
  unsigned parseAnd() {
    unsigned L = parseComparison();
    while (take("&&")) {
      unsigned R = parseComparison();
      L = make(RowNode::And, {L, R});
    }
    return L;
  }
  unsigned parseComparison() {
    unsigned L = parseSum();
    static constexpr std::pair<StringLiteral, RowNode::Kind> Signs[] = {
        {"==", RowNode::Eq}, {"!=", RowNode::Ne}, {"<=", RowNode::Le},
        {">=", RowNode::Ge}, {"<", RowNode::Lt},  {">", RowNode::Gt}};
    for (const auto &[Sign, K] : Signs)
      if (take(Sign)) {
        unsigned R = parseSum();
        return make(K, {L, R});
      }
    return L;
  }
  unsigned parseSum() {
    unsigned L = parseProduct();
    for (;;) {
      bool Plus = take("+");
      if (!Plus && !take("-"))
        return L;
      unsigned R = parseProduct();
      L = make(Plus ? RowNode::Add : RowNode::Sub, {L, R});
    }
  }
  unsigned parseProduct() {
    unsigned L = parseUnary();
    for (;;) {
      bool Times = take("*");
      if (!Times && !take("/"))
        return L;
      unsigned R = parseUnary();
      L = make(Times ? RowNode::Mul : RowNode::Div, {L, R});
    }
  }
  unsigned parseUnary() {
    if (take("-")) {
      unsigned X = parseUnary();
      return make(RowNode::Neg, {X});
    }
    if (!peek().starts_with("!=") && take("!")) {
      unsigned X = parseUnary();
      return make(RowNode::Not, {X});
    }
    return parsePrimary();
  }
  unsigned parsePrimary() {
    if (take("(")) {
      unsigned X = parseChoice();
      return take(")") ? X : fail("expected ')'");
    }
    if (peek().empty())
      return fail("the formula ends early");
    if (isDigit(Rest.front()) || Rest.front() == '.') {
      StringRef Digits =
          Rest.take_while([](char C) { return isDigit(C) || C == '.'; });
      Rest = Rest.drop_front(Digits.size());
      return make(RowNode::Number, {}, Digits);
    }
    StringRef Name =
        Rest.take_while([](char C) { return isAlnum(C) || C == '_'; });
    if (Name.empty())
      return fail("unexpected character");
    Rest = Rest.drop_front(Name.size());
    if (take("("))
      return parseCall(Name);
    if (Name.size() == 1 && Params.contains(Name))
      return make(RowNode::Param, {}, Name, Params.find(Name));
    if (Name == "out")
      return make(RowNode::Out, {}, Name, 0);
    if (Name.size() == 4 && Name.starts_with("out") && isDigit(Name[3]))
      return make(RowNode::Out, {}, Name, Name[3] - '0');
    for (const NamedConstant &C : Constants)
      if (C.Name == Name)
        return make(RowNode::Number, {}, C.Digits);
    return fail(Twine("unknown name '") + Name + "'");
  }
  unsigned parseCall(StringRef Name) {
    SmallVector<unsigned, 3> Arguments;
    do
      Arguments.push_back(parseChoice());
    while (take(","));
    return take(")") ? make(RowNode::Call, Arguments, Name)
                     : fail("expected ')'");
  }
};

} // namespace adjoin

std::optional<RowFormula> RowFormula::parse(StringRef Text, StringRef Params,
                                            std::string &Error) {
  return RowParser(Text, Params).run(Error);
}
