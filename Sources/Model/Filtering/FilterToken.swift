/// A word of the filter language.
struct FilterToken: Hashable {
  enum Kind: Hashable {
    case keyword(Keyword)
    /// Column, as written or between double quotes.
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

  /// Reserved in any case; a column of such a name is written between double quotes.
  enum Keyword: String, CaseIterable {
    case and, or, not, `in`, between, like, escape, `is`, null, `true`, `false`
  }

  let kind: Kind
  /// Characters before it.
  let offset: Int
}

package enum FilterComparison: String, Hashable, Sendable, CaseIterable {
  case equal = "="
  case notEqual = "<>"
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  /// The same said from the other side.
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
