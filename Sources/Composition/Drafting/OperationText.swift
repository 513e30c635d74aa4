import GraphQL

/// The file of a drafted operation, with comments that say what to change.
struct OperationText {
  let definition: OperationDefinition
  let route: String?
  let drafted: DraftedArguments
  let lookup: DraftedOperation.Lookup?
  /// The fields that the selection leaves out.
  let omitted: [OmittedSelection]

  var text: String {
    // Apart from the description, which can have a line like the operation's.
    var bare = definition
    bare.description = nil
    let printed = Printer.print(.operation(bare))
    let whole = Printer.print(.operation(definition))
    let description = whole.hasSuffix(printed) ? String(whole.dropLast(printed.count)) : ""
    let mark = "\(definition.operation.rawValue) \(definition.name?.value ?? "")"
    var lines = printed.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let head = lines.firstIndex(where: { $0.hasPrefix(mark) }), lines[head].hasSuffix(" {")
    else { return whole + "\n" }
    lines[head].removeLast(2)
    let directives = directives
    lines.insert(contentsOf: directives, at: head + 1)
    lines[head + directives.count] += " {"
    // An empty line keeps the advice out of the operation's description.
    let advice = comments.isEmpty ? "" : comments.map { $0 + "\n" }.joined() + "\n"
    return advice + description + lines.joined(separator: "\n") + "\n"
  }

  /// The arguments of a drafted `@cache`.
  static let windows =
    "maxAge: \(OperationDrafter.maxAge), staleWhileRevalidate: \(OperationDrafter.staleWhileRevalidate), "
    + "staleIfError: \(OperationDrafter.staleIfError)"

  private var path: String {
    route.map { "/api\($0)" } ?? "/v1/operations/\(definition.name?.value ?? "")"
  }

  private var comments: [String] {
    var lines: [String] = []
    switch definition.operation {
    case .query:
      lines += [
        "# GET \(path)",
        "# @cache: seconds that a response is fresh, is then served while it is fetched again, and is served",
        "# while the API fails: set them by how often the data changes. Add `scope: PUBLIC` if the response is",
        "# the same for all callers although `upstream.forward` has their credentials.",
      ]
    case .mutation:
      lines += [
        "# POST \(path) sends it at once; POST /v1/mutations queues it for a device.",
        "# @effects says what it changes besides its own response, such as lists that grow or shrink:",
        "# @effects(invalidates: [\"OPERATION\"])",
      ]
      if let lookup {
        lines += [
          "# @sync says what the queue must know; repeatable: true if twice has the effect of once:",
          "# @sync(object: \"\(lookup.type):$\(lookup.variable)\", repeatable: true)",
        ]
      }
    case .subscription:
      lines += [
        "# GET \(path)/stream: server-sent events, one connection upstream for all callers."
      ]
    }
    if !drafted.omitted.isEmpty {
      lines.append(
        "# Arguments left out; add variables for those that clients need: "
          + drafted.omitted.joined(separator: ", "))
    }
    return lines + OmittedSelection.lines(omitted).map { "# \($0)" }
  }

  private var directives: [String] {
    var directives = route.map { ["@route(path: \"\($0)\")"] } ?? []
    if definition.operation == .query {
      directives.append("@cache(\(Self.windows))")
    }
    return directives
  }
}
