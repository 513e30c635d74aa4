import Model

/// The syntax tree of a filter, before columns and parameters are resolved.
indirect enum FilterSyntax: Hashable {
  enum Operand: Hashable {
    case literal(Literal)
    /// The n-th `?`, counted from 0.
    case nextParameter(Int)
    case namedParameter(String)
    /// `now()`, moved by durations.
    case now(seconds: Int64)
  }

  /// The left side of a predicate.
  struct Subject: Hashable {
    enum Function: String, Hashable, CaseIterable {
      case lower, length
    }

    let function: Function?
    /// The names of a key path.
    let names: [String]

    init(_ names: [String], function: Function? = nil) {
      self.names = names
      self.function = function
    }

    /// As it is written, for messages.
    var text: String {
      let path = names.joined(separator: ".")
      return function.map { "\($0.rawValue)(\(path))" } ?? path
    }
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

  typealias Column = Placed<Subject>
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
  case holds(Column, TextMatch.Kind, TextFolding, Value)
  case isNull(Column)
  case isMissing(Column)
  /// `ANY` before a predicate: some member of the to-many relationship in its path meets it.
  case any(FilterSyntax)
}

extension FilterSyntax {
  /// The left side of a predicate, also of a negated one; nil for AND and OR.
  var subject: Column? {
    switch self {
    case .comparison(let column, _, _), .columns(let column, _, _), .truth(let column),
      .oneOf(let column, _), .between(let column, _, _), .like(let column, _, _),
      .holds(let column, _, _, _), .isNull(let column), .isMissing(let column):
      column
    case .not(let inner), .any(let inner): inner.subject
    case .and, .or: nil
    }
  }

  /// Returns the predicate about another subject.
  func about(_ column: Column) -> FilterSyntax {
    switch self {
    case .comparison(_, let comparison, let value): .comparison(column, comparison, value)
    case .columns(_, let comparison, let other): .columns(column, comparison, other)
    case .truth: .truth(column)
    case .oneOf(_, let values): .oneOf(column, values)
    case .between(_, let low, let high): .between(column, low, high)
    case .like(_, let pattern, let escape): .like(column, pattern, escape: escape)
    case .holds(_, let kind, let folding, let value): .holds(column, kind, folding, value)
    case .isNull: .isNull(column)
    case .isMissing: .isMissing(column)
    case .not(let inner): .not(inner.about(column))
    case .any(let inner): .any(inner.about(column))
    case .and, .or: self
    }
  }
}

/// A token of the filter language.
struct FilterToken: Hashable {
  enum Kind: Hashable {
    case keyword(Keyword)
    /// A name that can also be a word of the language, such as `any`.
    case word(String)
    /// The names of a key path, or one name in double quotes, which are removed.
    case path([String])
    case text(String)
    /// Unsigned.
    case number(String)
    case sign(String)
    case comparison(FilterComparison)
    case open, close, comma
    /// A number of seconds, as in `7d`.
    case duration(seconds: Int64)
    /// `[c]` or `[cd]`.
    case folding(TextFolding)
    case nextParameter
    case namedParameter(String)
    case end
  }

  /// Reserved words, in any case; a column of such a name needs double quotes. All other words of the
  /// language are recognised by their place, so that a column can have their names.
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
