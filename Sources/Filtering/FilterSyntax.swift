import Model

/// The syntax tree of a filter, before columns and parameters are resolved.
indirect enum FilterSyntax: Hashable {
  enum Operand: Hashable {
    case literal(Literal)
    /// The n-th `?`, counted from 0.
    case nextParameter(Int)
    case namedParameter(String)
  }

  enum Literal: Hashable {
    case text(String)
    /// With its sign.
    case number(String)
    case bool(Bool)
    case null
  }

  struct Placed<Value: Hashable>: Hashable {
    let value: Value
    /// Number of characters before it.
    let offset: Int
  }

  typealias Column = Placed<String>
  typealias Value = Placed<Operand>

  case and(FilterSyntax, FilterSyntax)
  case or(FilterSyntax, FilterSyntax)
  case not(FilterSyntax)
  case comparison(Column, FilterComparison, Value)
  case columns(Column, FilterComparison, Column)
  /// A Boolean column as a condition.
  case truth(Column)
  case oneOf(Column, [Value])
  case between(Column, Value, Value)
  case like(Column, Value, escape: Value?)
  case isNull(Column)
}

/// A token of the filter language.
struct FilterToken: Hashable {
  enum Kind: Hashable {
    case keyword(Keyword)
    /// A column, with double quotes removed.
    case name(String)
    case text(String)
    /// Unsigned.
    case number(String)
    case sign(String)
    case comparison(FilterComparison)
    case open, close, comma
    case nextParameter
    case namedParameter(String)
    case end
  }

  /// Reserved words, in any case; a column of such a name needs double quotes.
  enum Keyword: String, CaseIterable {
    case and, or, not, `in`, between, like, escape, `is`, null, `true`, `false`
  }

  let kind: Kind
  /// Number of characters before it.
  let offset: Int
}

package enum FilterComparison: String, Hashable, Sendable, CaseIterable {
  case equal = "="
  case notEqual = "<>"
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  /// The comparison with its sides exchanged.
  var mirrored: FilterComparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}
