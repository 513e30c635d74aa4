/// A checked filter on the entities of one type.
package struct Filter: Hashable, Sendable {
  /// Bytes of a filter's text and its arguments together; a request's target is no longer than this by
  /// default.
  package static let bytesMax = 8192
  /// Characters (Unicode scalars) of a pattern of `LIKE`.
  package static let patternCharactersMax = 1_000

  package let condition: FilterCondition

  package init(condition: FilterCondition) {
    self.condition = condition
  }

  /// Parses a filter, checks it against a type's columns and puts its arguments in.
  package init(
    _ text: String, arguments: FilterArguments, type: EntityType
  ) throws(FilterFaults) {
    guard text.utf8.count <= Self.bytesMax else {
      throw FilterFaults(
        all: [
          FilterFault(
            place: .position(1), message: "the filter is longer than \(Self.bytesMax) bytes")
        ])
    }
    let bytes = text.utf8.count + arguments.byteCount
    guard bytes <= Self.bytesMax else {
      throw FilterFaults(
        all: [
          FilterFault(
            place: .argument("arg"),
            message: "the filter and its arguments have \(bytes) bytes, at most \(Self.bytesMax)")
        ])
    }
    var parser = try FilterParser(text)
    let syntax = try parser.parse()
    var checker = FilterChecker(type: type, arguments: arguments)
    let condition = checker.check(syntax)
    checker.checkArguments(parameterCount: parser.parameterCount)
    guard checker.faults.isEmpty, let condition else { throw FilterFaults(all: checker.faults) }
    self.condition = condition
  }
}
