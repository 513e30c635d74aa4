import HTTPServer
import HTTPWire
import Model

/// The query parameters of a list for operators: those of all lists, and its own.
struct ConsoleParameters {
  static let limitMax = 200
  private static let limitDefault = 50
  private static let valueBytesMax = 1_000

  private(set) var after: String?
  private(set) var limit: Int
  private var values: [String: String] = [:]

  /// Reads the parameters; unknown ones and repetitions are faults, all at once.
  ///
  /// - Parameters:
  ///   - names: the list's own parameters.
  ///   - limits: the values that `limit` can have.
  init(
    _ request: ServerRequest, own names: [String] = [], limits: ClosedRange<Int> = 1...limitMax,
    limit: Int = limitDefault
  ) throws(Failure) {
    self.limit = limit
    var faults: [Failure.Detail] = []
    var seen: Set<String> = []
    let known = ["after", "limit"] + names
    for parameter in try request.queryParameters() {
      func fault(_ detail: String) {
        faults.append(Failure.Detail(place: .parameter(parameter.name), detail: detail))
      }
      if !known.contains(parameter.name) {
        fault("is unknown; the parameters are \(known.joined(separator: ", "))")
      } else if !seen.insert(parameter.name).inserted {
        fault("is given more than once")
      } else if parameter.value.utf8.count > Self.valueBytesMax {
        fault("must have \(Self.valueBytesMax) bytes at most")
      } else if parameter.name == "limit" {
        let number = Int(parameter.value).flatMap { limits.contains($0) ? $0 : nil }
        if number == nil {
          fault("must be a number from \(limits.lowerBound) to \(limits.upperBound)")
        }
        self.limit = number ?? limit
      } else if parameter.name == "after" {
        after = parameter.value
      } else {
        values[parameter.name] = parameter.value
      }
    }
    guard faults.isEmpty else { throw Self.invalid(faults) }
  }

  /// The value of one of the list's own parameters; nil if it is absent or empty.
  subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

  static func invalid(_ faults: [Failure.Detail]) -> Failure {
    Failure(.malformedRequest, "Invalid query parameters (\(faults.count)).", details: faults)
  }
}
