import Gateway
import LosslessJSON
import Model

/// Reads `POST /v1/mutations`: one mutation as an object, or several as an array.
enum MutationRequestDocument {
  /// Mutations in one array.
  static let countMax = 100
  /// Of one mutation, all its members together.
  static let bytesMax = 256 << 10
  /// A change that nobody could send for so long is asked about again.
  private static let expirySecondsMax: Int64 = 90 * 86_400

  private static let memberNames: Set<String> = [
    "operation", "mode", "variables", "object", "refs", "optimistic", "baseRev", "expires", "ahead",
  ]

  enum Requests {
    case one(MutationRequest)
    case several([MutationRequest])
  }

  static func requests(_ bytes: [UInt8]) throws(Failure) -> Requests {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    var faults: [Failure.Detail] = []
    // Written compactly none of it is longer than it came.
    let mayBeTooLarge = bytes.count > bytesMax
    guard let items = body.array else {
      let request = try request(body, mayBeTooLarge: mayBeTooLarge, at: "", &faults)
      guard let request, faults.isEmpty else { throw invalid(faults) }
      return .one(request)
    }
    guard (1...countMax).contains(items.count) else {
      faults.append(fault("", "is a mutation, or an array of 1 to \(countMax) mutations"))
      throw invalid(faults)
    }
    var requests: [MutationRequest] = []
    for (index, item) in items.enumerated() {
      let request = try request(
        item, mayBeTooLarge: mayBeTooLarge, at: "/\(index)", &faults)
      guard let request else { continue }
      if request.mode == .force {
        faults.append(fault("/\(index)/mode", "a force is sent alone: its answer is upstream's"))
      }
      requests.append(request)
    }
    guard faults.isEmpty else { throw invalid(faults) }
    return .several(requests)
  }

  private static func request(
    _ item: JSONValue, mayBeTooLarge: Bool, at pointer: String,
    _ faults: inout [Failure.Detail]
  ) throws(Failure) -> MutationRequest? {
    guard let members = item.members else {
      faults.append(fault(pointer, "is an object"))
      return nil
    }
    guard !mayBeTooLarge || item.bytes.count <= bytesMax else {
      throw Failure(
        .mutationTooLarge, "A mutation is at most \(bytesMax) bytes.",
        details: [fault(pointer, "is larger than \(bytesMax) bytes")])
    }
    let countBefore = faults.count
    let repeated = members.repeatedPositions
    for (position, member) in members.enumerated() {
      let place = { pointer.appending(pointerMember: member.name) }
      if !memberNames.contains(member.name) { faults.append(fault(place(), "is not known here")) }
      if repeated.contains(position) { faults.append(fault(place(), "is given twice")) }
    }
    var reader = Members(item: item, pointer: pointer)
    let operation = reader.text("operation", isRequired: true)
    let mode = reader.mode()
    let variables = item["variables"] ?? [:]
    if variables.members == nil { reader.note("variables", "is an object") }
    let request = MutationRequest(
      operation: operation ?? "", mode: mode ?? .lazy, variables: variables,
      object: reader.text("object"), references: reader.texts("refs"),
      optimistic: reader.optimistic(), goesAheadOfAll: reader.ahead(mode),
      expiresIn: reader.expiry(secondsMax: expirySecondsMax), pointer: pointer,
      canonicalBytes: item.canonicalBytes)
    _ = reader.text("baseRev")
    faults += reader.faults
    return faults.count == countBefore ? request : nil
  }

  private static func invalid(_ faults: [Failure.Detail]) -> Failure {
    Failure(.invalidMutation, "The mutation cannot be taken.", details: faults)
  }

  private static func fault(_ pointer: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(pointer), detail: detail)
  }
}

/// The members of one mutation, with what is wrong with each.
private struct Members {
  let item: JSONValue
  let pointer: String
  private(set) var faults: [Failure.Detail] = []

  init(item: JSONValue, pointer: String) {
    self.item = item
    self.pointer = pointer
  }

  mutating func note(_ name: String, _ detail: String) {
    faults.append(
      Failure.Detail(place: .pointer(pointer.appending(pointerMember: name)), detail: detail))
  }

  mutating func text(_ name: String, isRequired: Bool = false) -> String? {
    let value = item[name]
    if let text = value?.string, !text.isEmpty { return text }
    if value != nil || isRequired { note(name, "is a text that is not empty") }
    return nil
  }

  mutating func texts(_ name: String) -> [String] {
    guard let value = item[name] else { return [] }
    let texts = value.array?.compactMap(\.string)
    guard let texts, texts.count == value.array?.count else {
      note(name, "is a list of texts of the form Type:id")
      return []
    }
    return texts
  }

  mutating func mode() -> MutationRequest.Mode? {
    guard let text = item["mode"]?.string, let mode = MutationRequest.Mode(rawValue: text) else {
      let names = MutationRequest.Mode.allCases.map(\.rawValue).joined(separator: ", ")
      note("mode", "is one of \(names)")
      return nil
    }
    return mode
  }

  mutating func optimistic() -> [JSONValue] {
    guard let value = item["optimistic"] else { return [] }
    guard let changes = value.array else {
      note("optimistic", "is a list of changes")
      return []
    }
    return changes
  }

  mutating func ahead(_ mode: MutationRequest.Mode?) -> Bool {
    guard let value = item["ahead"] else { return false }
    if value.string != "all" {
      note("ahead", "is all, or left out")
    } else if mode != .force {
      note("ahead", "is for a force alone")
    }
    return true
  }

  mutating func expiry(secondsMax: Int64) -> Duration? {
    guard let value = item["expires"] else { return nil }
    guard let seconds = value.int64, (1...secondsMax).contains(seconds) else {
      note("expires", "is a whole number of seconds from 1 to \(secondsMax)")
      return nil
    }
    return .seconds(seconds)
  }
}
