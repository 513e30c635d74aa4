/// A filter as it was written, before anything is known of columns and parameters.
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
    /// Characters before it.
    let offset: Int
  }

  typealias Column = Placed<String>
  typealias Value = Placed<Operand>

  case and(FilterSyntax, FilterSyntax)
  case or(FilterSyntax, FilterSyntax)
  case not(FilterSyntax)
  case comparison(Column, FilterComparison, Value)
  case columns(Column, FilterComparison, Column)
  /// A column of true and false, standing for itself.
  case truth(Column)
  case oneOf(Column, [Value])
  case between(Column, Value, Value)
  case like(Column, Value, escape: Value?)
  case isNull(Column)
}
