import Filtering
import Model
import Upstream

/// A request for a collection, parsed from its query parameters, with all faults reported at once.
package struct CollectionRequest: Sendable {
  package struct Parameter: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package static let limitDefault = 50
  package static let limitMax = 1000
  /// The maximum `offset`; page tokens have no such limit.
  static let offsetMax = 1_000_000

  private static let single: Set<String> = [
    "filter", "order", "limit", "offset", "after", "view", "include", "section",
    "total",
  ]
  private static let ofOneEntity: Set<String> = ["view", "include"]

  private let parameters: [Parameter]
  private let graph: EntityGraph
  private let now: Timestamp?
  private var faults: [Failure.Detail] = []

  private init(_ parameters: [Parameter], graph: EntityGraph, now: Timestamp?) {
    self.parameters = parameters
    self.graph = graph
    self.now = now
  }

  /// The query to run, the form of its entities, and the question that the next page's token is bound
  /// to.
  struct Reading {
    var query: EntityQuery
    let form: EntityForm
    let question: String
  }

  /// The entities that a collection is made of.
  struct Subject {
    /// The type whose columns filter and order; for several types, their common columns.
    let type: EntityType
    /// The types of the entities that can be in it.
    let shown: [String]
    /// The keys of a relationship's members.
    var members: [String]?
    /// The entity that has the relationship.
    var owner: String?

    init(_ type: EntityType, members: [String]? = nil, owner: String? = nil) {
      self.init(common: type, shown: [type.name], owner: owner)
      self.members = members
    }

    init(common: EntityType, shown: [String], owner: String?) {
      type = common
      self.shown = shown
      self.owner = owner
    }
  }

  /// - Parameter now: the value of `now()` in the filter.
  static func read(
    _ parameters: [Parameter], of subject: Subject, directory: EntityDirectory,
    tokens: PageTokenCodec, now: Timestamp
  ) throws(Failure) -> Reading {
    var request = CollectionRequest(parameters, graph: directory.graph, now: now)
    return try request.reading(subject, directory, tokens)
  }

  /// Reads the parameters of a read of one entity.
  ///
  /// - Parameter types: the types that it can have.
  static func form(
    _ parameters: [Parameter], of types: [String], directory: EntityDirectory
  ) throws(Failure) -> EntityForm {
    var request = CollectionRequest(parameters, graph: directory.graph, now: nil)
    request.checkNames(known: ofOneEntity, allowsFilter: false)
    let form = request.form(types, directory, rows: 1)
    try request.throwFaults()
    return form
  }

  /// Returns those of a list's parameters that a read of one entity has too.
  static func ofOneEntity(_ parameters: [Parameter]) -> [Parameter] {
    parameters.filter { ofOneEntity.contains($0.name) }
  }

  private mutating func reading(
    _ subject: Subject, _ directory: EntityDirectory, _ tokens: PageTokenCodec
  ) throws(Failure) -> Reading {
    checkNames(known: Self.single, allowsFilter: true)
    let type = subject.type
    var query = EntityQuery(type: type, members: subject.members)
    query.filter = filter(type)
    query.order = order(type)
    query.limit = number("limit", 0...Self.limitMax) ?? Self.limitDefault
    query.offset = number("offset", 0...Self.offsetMax) ?? 0
    query.wantsTotal = flag("total")
    query.section = section(query.order)
    let question = question(type, owner: subject.owner)
    if let text = self["after"] {
      query.after = position(text, question, tokens)
      if query.offset > 0 { fault("offset", "cannot be combined with after") }
    }
    let form = form(subject.shown, directory, rows: query.limit)
    try throwFaults()
    return Reading(query: query, form: form, question: question)
  }

  private func throwFaults() throws(Failure) {
    guard faults.isEmpty else {
      throw Failure(
        .malformedRequest,
        faults.count == 1
          ? "1 of the parameters is invalid." : "\(faults.count) of the parameters are invalid.",
        details: faults)
    }
  }

  private subscript(name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  private mutating func fault(_ name: String, _ detail: String) {
    guard faults.count < Failure.Detail.countMax else { return }
    faults.append(Failure.Detail(place: .parameter(name), detail: detail))
  }

  private mutating func checkNames(known: Set<String>, allowsFilter: Bool) {
    var seen: Set<String> = []
    for parameter in parameters {
      let name = parameter.name
      if allowsFilter, name == FilterParameters.argument { continue }
      guard known.contains(name) || allowsFilter && FilterParameters.isArgument(name) else {
        fault(name, "is not a known parameter")
        continue
      }
      if !seen.insert(name).inserted { fault(name, "is given twice") }
    }
  }

  // MARK: Filter and order

  private mutating func filter(_ type: EntityType) -> Filter? {
    var found: [(String, String)] = []
    let filter = FilterParameters(parameters).filter(on: type, graph: graph, now: now) {
      found.append(($0, $1))
    }
    for (name, detail) in found { fault(name, detail) }
    return filter
  }

  private mutating func order(_ type: EntityType) -> EntityOrder {
    guard let text = self["order"] else { return .byKey }
    do throws(EntityOrderFaults) {
      return try EntityOrder(text, type: type, graph: graph)
    } catch {
      for message in error.messages { fault("order", message) }
      return .byKey
    }
  }

  private mutating func section(_ order: EntityOrder) -> String? {
    guard let name = self["section"] else { return nil }
    if order.terms.first?.column != name { fault("section", "must be the first column of order") }
    return name
  }

  // MARK: The page

  private mutating func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
    guard let text = self[name] else { return nil }
    if let value = Int(text), range.contains(value) { return value }
    fault(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  private mutating func flag(_ name: String) -> Bool {
    switch self[name] {
    case "true": return true
    case nil, "false": return false
    default:
      fault(name, "must be true or false")
      return false
    }
  }

  /// Returns the parameters that determine the list's contents and order, as one string.
  private func question(_ type: EntityType, owner: String?) -> String {
    let decisive = parameters.filter {
      $0.name == "order" || FilterParameters.isOne($0.name)
    }
    let isNamed = { (parameter: Parameter) in parameter.name != FilterParameters.argument }
    let named = decisive.filter(isNamed).sorted { $0.name < $1.name }
    let texts =
      [type.name, owner ?? ""] + named.flatMap { [$0.name, $0.value] }
      + decisive.filter { !isNamed($0) }.map(\.value)
    return texts.map { "\($0.utf8.count):\($0)" }.joined()
  }

  private mutating func position(
    _ text: String, _ question: String, _ tokens: PageTokenCodec
  ) -> EntityPosition? {
    do throws(PageTokenCodec.Fault) {
      return try tokens.decode(text, question: question)
    } catch {
      switch error {
      case .malformed: fault("after", "is not a page token of this service")
      case .otherQuestion: fault("after", "belongs to another filter, order or list")
      }
      return nil
    }
  }

  // MARK: The form

  private mutating func form(
    _ types: [String], _ directory: EntityDirectory, rows: Int
  ) -> EntityForm {
    let view = view(of: types, directory)
    var reader = EntityFormReader(directory: directory)
    let form = reader.read(view, include: self["include"], of: types)
    for message in reader.faults { fault("include", message) }
    if let message = EntityFormReader.excess(of: form, in: rows) {
      fault(self["include"] == nil ? "view" : "include", message)
    }
    return form
  }

  private mutating func view(of types: [String], _ directory: EntityDirectory) -> EntityView? {
    guard let name = self["view"] else { return nil }
    if let view = directory.view(named: name),
      types.allSatisfy({ view.selection.types[$0] != nil })
    {
      return view
    }
    let names = directory.viewNames(of: types)
    fault(
      "view",
      names.isEmpty
        ? "there is no view of \(types.joined(separator: " and "))"
        : "must be one of \(names.joined(separator: ", "))")
    return nil
  }
}

/// The filter parameters of a request: `filter`, `arg` for each `?` in turn, and `arg.name` for
/// `:name`.
struct FilterParameters {
  static let filter = "filter"
  static let argument = "arg"
  private static let namedPrefix = "arg."

  private let parameters: [CollectionRequest.Parameter]

  init(_ parameters: [CollectionRequest.Parameter]) {
    self.parameters = parameters
  }

  /// Returns whether a parameter belongs to the filter.
  static func isOne(_ name: String) -> Bool {
    name == filter || isArgument(name)
  }

  /// Returns whether a parameter is an argument of the filter.
  static func isArgument(_ name: String) -> Bool {
    name == argument || name.hasPrefix(namedPrefix)
  }

  /// Parses the filter.
  ///
  /// - Parameter note: called for each faulty parameter.
  /// - Returns: nil if there is no filter, or it is faulty.
  func filter(
    on type: EntityType, graph: EntityGraph, now: Timestamp?,
    note: (_ name: String, _ detail: String) -> Void
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
      return try Filter(text, arguments: arguments, type: type, graph: graph, now: now)
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
