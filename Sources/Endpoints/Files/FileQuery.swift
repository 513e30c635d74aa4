import HTTPServer
import HTTPWire
import Model

/// The query of a request for files, by name; what is not known is passed over.
struct FileQuery {
  private let parameters: [QueryString.Parameter]

  init(_ request: ServerRequest) throws(Failure) {
    parameters = try request.queryParameters()
  }

  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  func contains(_ name: String) -> Bool { parameters.contains { $0.name == name } }

  /// A number; nil where it is absent.
  func number(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Failure(
        .malformedRequest, "The request cannot be read.",
        details: [
          Failure.Detail(
            place: .parameter(name),
            detail: "is a number from \(range.lowerBound) to \(range.upperBound)")
        ])
    }
    return number
  }
}
