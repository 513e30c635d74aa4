/// What must hold of an entity, with columns that exist and values of their kinds.
package indirect enum FilterCondition: Hashable, Sendable {
  case and(FilterCondition, FilterCondition)
  case or(FilterCondition, FilterCondition)
  case not(FilterCondition)
  case comparison(column: String, FilterComparison, FilterValue)
  case columns(String, FilterComparison, String)
  case truth(column: String)
  case oneOf(column: String, [FilterValue])
  case between(column: String, FilterValue, FilterValue)
  case like(column: String, pattern: String, escape: String?)
  case isNull(column: String)
}
