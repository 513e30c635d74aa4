import Gateway
import LosslessJSON
import Model

/// Reads `POST /v1/mutations`: one mutation as an object, or several as an array.
extension MutationRequest {
  /// Mutations in one array.
  private static let countMax = 100
  /// The maximum size of one mutation.
  private static let bytesMax = 256 << 10
  /// The longest lifetime of a mutation: 90 days. A change that old must be confirmed by the user again.
  private static let expirySecondsMax: Int64 = 90 * 86_400

  /// The members that a request can have. `baseRev` is ignored.
  private static let memberNames: Set<String> = [
    "operation", "mode", "variables", "object", "refs", "optimistic", "baseRev", "expires", "ahead",
    "write",
  ]
  /// Members that a list of local writes does not have.
  private static let onlyOfOperations = ["operation", "variables", "object", "optimistic", "ahead"]

  /// The mutations of one body.
  enum Requests {
    case one(MutationRequest)
    case several([MutationRequest])
  }

  /// - Returns: the mutations, each with its own faults.
  static func read(_ bytes: [UInt8]) throws(Failure) -> Requests {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    // No mutation is longer in compact form than the whole body as received.
    let mayBeTooLarge = bytes.count > bytesMax
    guard let items = body.array else {
      return .one(try request(body, at: "", isAlone: true, mayBeTooLarge: mayBeTooLarge))
    }
    guard (1...countMax).contains(items.count) else {
      return .one(
        unreadable("must be a mutation, or an array of 1 to \(countMax) mutations", at: ""))
    }
    var requests: [MutationRequest] = []
    for (index, item) in items.enumerated() {
      requests.append(
        try request(item, at: "/\(index)", isAlone: false, mayBeTooLarge: mayBeTooLarge))
    }
    return .several(requests)
  }

  private static func request(
    _ item: JSONValue, at pointer: String, isAlone: Bool, mayBeTooLarge: Bool
  ) throws(Failure) -> MutationRequest {
    guard let members = item.members else { return unreadable("must be an object", at: pointer) }
    guard !mayBeTooLarge || item.bytes.count <= bytesMax else {
      throw Failure(
        .mutationTooLarge, "A mutation can have at most \(bytesMax) bytes.",
        details: [fault(pointer, "exceeds \(bytesMax) bytes")])
    }
    var faults: [Failure.Detail] = []
    let repeated = members.repeatedPositions
    for (position, member) in members.enumerated() {
      let place = { pointer.appending(pointerMember: member.name) }
      if !memberNames.contains(member.name) { faults.append(fault(place(), "is unknown")) }
      if repeated.contains(position) { faults.append(fault(place(), "is given twice")) }
    }
    var reader = Members(item: item, pointer: pointer)
    let write = item["write"]
    if write != nil {
      for name in onlyOfOperations where item[name] != nil {
        reader.note(name, "cannot be combined with write")
      }
    }
    let operation = reader.text("operation", isRequired: write == nil)
    let mode = reader.mode()
    if mode == .force, !isAlone {
      reader.note("mode", "cannot be force in an array; send each force on its own")
    }
    let variables = item["variables"] ?? [:]
    if variables.members == nil { reader.note("variables", "must be an object") }
    let object = reader.text("object")
    let references = reader.texts("refs")
    let optimistic = reader.optimistic()
    let goesAheadOfAll = reader.ahead(mode)
    let expiresIn = reader.expiry(secondsMax: expirySecondsMax)
    return MutationRequest(
      operation: operation, mode: mode ?? .lazy,
      variables: variables.members == nil ? nil : variables, object: object,
      references: references, optimistic: optimistic, goesAheadOfAll: goesAheadOfAll,
      expiresIn: expiresIn, pointer: pointer, canonicalBytes: item.canonicalBytes,
      faults: faults + reader.faults, write: write)
  }

  private static func unreadable(_ detail: String, at pointer: String) -> MutationRequest {
    MutationRequest(
      operation: nil, mode: .lazy, variables: nil, pointer: pointer, canonicalBytes: [],
      faults: [fault(pointer, detail)])
  }

  private static func fault(_ pointer: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(pointer), detail: detail)
  }
}

/// A reader of one mutation's members that collects their faults.
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
    if value != nil || isRequired { note(name, "must be a non-empty string") }
    return nil
  }

  /// The maximum number of objects in `refs`. More would make one mutation wait for everything.
  private static let textsMax = 100

  mutating func texts(_ name: String) -> [String] {
    guard let value = item[name] else { return [] }
    if let count = value.array?.count, count > Self.textsMax {
      note(name, "has more than \(Self.textsMax) members")
      return []
    }
    let texts = value.array?.compactMap(\.string)
    guard let texts, texts.count == value.array?.count else {
      note(name, "must be an array of strings of the form Type:id")
      return []
    }
    return texts
  }

  /// Returns the mode, `lazy` if none is given; nil if it is not one.
  mutating func mode() -> MutationMode? {
    guard let value = item["mode"] else { return .lazy }
    guard let text = value.string, let mode = MutationMode(rawValue: text) else {
      let names = MutationMode.allCases.map(\.rawValue).joined(separator: ", ")
      note("mode", "must be one of \(names)")
      return nil
    }
    return mode
  }

  mutating func optimistic() -> [JSONValue]? {
    guard let value = item["optimistic"] else { return nil }
    guard let changes = value.array else {
      note("optimistic", "must be an array of changes")
      return []
    }
    return changes
  }

  mutating func ahead(_ mode: MutationMode?) -> Bool {
    guard let value = item["ahead"] else { return false }
    if value.string != "all" {
      note("ahead", "must be \"all\" if given")
    } else if mode != .force {
      note("ahead", "is allowed only with mode force")
    }
    return true
  }

  mutating func expiry(secondsMax: Int64) -> Duration? {
    guard let value = item["expires"] else { return nil }
    guard let seconds = value.int64, (1...secondsMax).contains(seconds) else {
      note("expires", "must be an integer number of seconds from 1 to \(secondsMax)")
      return nil
    }
    return .seconds(seconds)
  }
}
