import Gateway
import HTTPWire
import LosslessJSON
import Model

/// The bodies of `POST /v1/live` and `PATCH /v1/live/{streamId}`. All faults of a body are reported at
/// once; what is wrong with a subject itself, such as an unknown operation, is an event of that subject.
struct LiveDocument {
  /// The maximum length of a subject's id, in bytes.
  static let idBytesMax = 128
  private static let kinds = ["operation", "changes", "collection"]
  private static let changesMembers = ["types", "on", "since", "filter", "arg"]

  let sources: LiveSources
  let requestID: String
  /// The network of the client.
  let network: ClientNetwork
  private var faults: [Failure.Detail] = []

  init(
    sources: LiveSources, requestID: String, network: ClientNetwork
  ) {
    self.sources = sources
    self.requestID = requestID
    self.network = network
  }

  /// Reads `{"queries":[…]}`.
  mutating func readOpening(_ bytes: [UInt8]) throws(Failure) -> [LiveSubject.Requested] {
    let body = try ObjectBody.object(bytes)
    faults += ObjectBody.unknownMembers(of: body, known: ["queries"])
    if body["queries"] == nil {
      faults.append(ObjectBody.fault("/queries", "is required; it can be an empty array"))
    }
    let subjects = subjects(body["queries"], at: "/queries")
    try refuse()
    return subjects
  }

  /// Reads `{"add":[…],"remove":["a"]}`.
  mutating func readChange(
    _ bytes: [UInt8]
  ) throws(Failure) -> (added: [LiveSubject.Requested], removed: [String]) {
    let body = try ObjectBody.object(bytes)
    faults += ObjectBody.unknownMembers(of: body, known: ["add", "remove"])
    let added = subjects(body["add"], at: "/add")
    var removed: [String] = []
    if let ids = body["remove"] {
      if let elements = ids.array, elements.count <= LiveStreams.subjectsMax {
        for (index, element) in elements.enumerated() {
          if let id = element.string {
            removed.append(id)
          } else {
            fault("/remove/\(index)", "must be the id of a subject")
          }
        }
      } else {
        fault("/remove", "must be an array of at most \(LiveStreams.subjectsMax) ids")
      }
    }
    try refuse()
    return (added, removed)
  }

  func opening(_ bytes: [UInt8]) throws(Failure) -> [LiveSubject.Requested] {
    var document = self
    return try document.readOpening(bytes)
  }

  func change(
    _ bytes: [UInt8]
  ) throws(Failure) -> (added: [LiveSubject.Requested], removed: [String]) {
    var document = self
    return try document.readChange(bytes)
  }

  private func refuse() throws(Failure) {
    guard faults.isEmpty else {
      throw Failure(
        .malformedRequest, "The body has \(faults.count.counted("fault")).",
        details: Array(faults.prefix(Failure.Detail.countMax)))
    }
  }

  private mutating func fault(_ pointer: String, _ detail: String) {
    faults.append(ObjectBody.fault(pointer, detail))
  }

  // MARK: Subjects

  private mutating func subjects(
    _ value: JSONValue?, at pointer: String
  ) -> [LiveSubject.Requested] {
    guard let value else { return [] }
    guard let elements = value.array, elements.count <= LiveStreams.subjectsMax else {
      fault(pointer, "must be an array of at most \(LiveStreams.subjectsMax) subjects")
      return []
    }
    return elements.enumerated().compactMap { index, element in
      subject(element, at: "\(pointer)/\(index)")
    }
  }

  private mutating func subject(
    _ value: JSONValue, at pointer: String
  ) -> LiveSubject.Requested? {
    guard let members = value.members else {
      fault(pointer, "must be an object")
      return nil
    }
    let count = faults.count
    let given = Self.kinds.filter { value[$0] != nil }
    guard given.count == 1, let kind = given.first else {
      fault(pointer, "must have one of \(Self.kinds.joined(separator: ", "))")
      return nil
    }
    let known = ["id", kind] + Self.otherMembers(of: kind)
    for member in members where !known.contains(member.name) {
      fault(
        pointer.appending(pointerMember: member.name),
        "is unknown; the members next to \(kind) are \(known.joined(separator: ", "))")
    }
    let id = value["id"]?.string
    if id?.isEmpty ?? true || (id?.utf8.count ?? 0) > Self.idBytesMax {
      fault("\(pointer)/id", "must be a string of 1 to \(Self.idBytesMax) bytes")
    }
    if let from = value["from"], from.string == nil {
      fault("\(pointer)/from", "must be an entity tag")
    }
    let source = source(kind, value, at: pointer)
    guard faults.count == count, let id, let source else { return nil }
    let definition = JSONValue.object(Self.withoutPosition(members))
    return LiveSubject.Requested(
      subject: LiveSubject(id: id, definition: definition.canonicalBytes, source: source),
      pointer: pointer)
  }

  private static func otherMembers(of kind: String) -> [String] {
    switch kind {
    case "operation": ["variables", "from"]
    case "collection": ["from"]
    default: []
    }
  }

  /// The members that say what a subject shows: a client that moves on can send another position.
  private static func withoutPosition(_ members: [JSONMember]) -> [JSONMember] {
    members.filter { $0.name != "from" }.map { member in
      guard member.name == "changes", let inner = member.value.members else { return member }
      return JSONMember("changes", .object(inner.filter { $0.name != "since" }))
    }
  }

  private mutating func source(
    _ kind: String, _ value: JSONValue, at pointer: String
  ) -> (any LiveSource)? {
    switch kind {
    case "operation": operation(value, at: pointer)
    case "changes": changes(value["changes"] ?? .null, at: "\(pointer)/changes")
    default: collection(value, at: pointer)
    }
  }

  private mutating func operation(_ value: JSONValue, at pointer: String) -> OperationSource? {
    guard let name = value["operation"]?.string else {
      fault("\(pointer)/operation", "must be the name of an operation")
      return nil
    }
    let variables = value["variables"] ?? [:]
    guard variables.members != nil else {
      fault("\(pointer)/variables", "must be an object")
      return nil
    }
    return OperationSource(
      operations: sources.operations, subscriptions: sources.subscriptions, name: name,
      variables: variables, from: value["from"]?.string.map(ListDiffEndpoint.opaque),
      requestID: requestID)
  }

  private mutating func collection(_ value: JSONValue, at pointer: String) -> ListSource? {
    guard let question = value["collection"]?.string.flatMap(Self.question) else {
      fault(
        "\(pointer)/collection",
        "must be the path of a list, an entity or a relationship, such as /v1/entities/Film?order=title"
      )
      return nil
    }
    return ListSource(
      lists: sources.lists, question: question, network: network, from: value["from"]?.string)
  }

  private static func question(_ target: String) -> ListQuestion? {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let encoded = parts[0].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let segments = encoded.compactMap { PercentCoding.decode($0) }
    guard parts[0].hasPrefix("/v1/entities/"), segments.count == encoded.count,
      (3...5).contains(segments.count), segments.allSatisfy({ !$0.isEmpty }),
      let query = try? QueryString(String(parts.count > 1 ? parts[1] : ""))
    else { return nil }
    let subject: ListSubject
    switch segments.count {
    case 3: subject = .type(segments[2])
    case 4: subject = .entity(EntityKey(type: segments[2], key: segments[3]))
    default:
      subject = .relationship(segments[4], of: EntityKey(type: segments[2], key: segments[3]))
    }
    return ListQuestion(subject, parameters: query.parameters.map { .init($0.name, $0.value) })
  }

  // MARK: Changes

  private mutating func changes(_ value: JSONValue, at pointer: String) -> ChangesSource? {
    guard let members = value.members else {
      fault(pointer, "must be an object")
      return nil
    }
    var parameters: [QueryString.Parameter] = []
    for member in members {
      let place = pointer.appending(pointerMember: member.name)
      switch member.name {
      case "types", "on":
        guard let names = Self.strings(member.value), !names.isEmpty else {
          fault(place, "must be an array of names")
          continue
        }
        parameters.append(.init(name: member.name, value: names.joined(separator: ",")))
      case "since", "filter":
        guard let text = member.value.string else {
          fault(place, "must be a string")
          continue
        }
        parameters.append(.init(name: member.name, value: text))
      case "arg":
        guard let arguments = Self.arguments(member.value) else {
          fault(place, "must be an array of values, or an object of values by name")
          continue
        }
        parameters += arguments
      case let name where ChangesQuery.ofLists.contains(name):
        fault(place, ChangesQuery.notOfChanges)
      default:
        fault(place, "is unknown; the members are \(Self.changesMembers.joined(separator: ", "))")
      }
    }
    return ChangesSource(feed: sources.changes, parameters: parameters)
  }

  private static func strings(_ value: JSONValue) -> [String]? {
    guard let elements = value.array else { return nil }
    let strings = elements.compactMap(\.string)
    return strings.count == elements.count ? strings : nil
  }

  private static func arguments(_ value: JSONValue) -> [QueryString.Parameter]? {
    if let elements = value.array {
      let texts = elements.compactMap(text)
      return texts.count == elements.count ? texts.map { .init(name: "arg", value: $0) } : nil
    }
    guard let members = value.members else { return nil }
    let named = members.compactMap { member in
      text(member.value).map { QueryString.Parameter(name: "arg.\(member.name)", value: $0) }
    }
    return named.count == members.count ? named : nil
  }

  /// The text of an argument, as it would be in a query string.
  private static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .number, .bool: value.canonicalText
    default: nil
    }
  }
}
