import Model

/// The filter of a request and its arguments: `filter`, `arg` for each `?` in turn, `arg.name` for
/// `:name`.
struct FilterParameters {
  static let filter = "filter"
  static let argument = "arg"
  private static let namedPrefix = "arg."

  private let parameters: [CollectionRequest.Parameter]

  init(_ parameters: [CollectionRequest.Parameter]) {
    self.parameters = parameters
  }

  static func isOne(_ name: String) -> Bool {
    name == filter || isArgument(name)
  }

  static func isArgument(_ name: String) -> Bool {
    name == argument || name.hasPrefix(namedPrefix)
  }

  /// - Parameter note: is told of each faulty parameter.
  /// - Returns: nil where there is none, or it is faulty.
  func filter(
    on type: EntityType, note: (_ name: String, _ detail: String) -> Void
  ) -> Filter? {
    let arguments = FilterArguments(
      positional: parameters.filter { $0.name == Self.argument }.map(\.value),
      named: Dictionary(
        parameters.filter { $0.name.hasPrefix(Self.namedPrefix) }.map {
          (String($0.name.dropFirst(Self.namedPrefix.count)), $0.value)
        }, uniquingKeysWith: { first, _ in first }))
    guard let text = parameters.first(where: { $0.name == Self.filter })?.value else {
      if arguments != .none { note(Self.filter, "is missing, but arguments are given") }
      return nil
    }
    do throws(FilterFaults) {
      return try Filter(text, arguments: arguments, type: type)
    } catch {
      for found in error.all {
        switch found.place {
        case .position(let position):
          note(Self.filter, "position \(position): \(found.message)")
        case .argument(let name): note(name, found.message)
        }
      }
      return nil
    }
  }
}
