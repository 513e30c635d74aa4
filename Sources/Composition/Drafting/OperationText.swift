import GraphQL

/// The file of a drafted operation, with comments that say what to change.
struct OperationText {
  let definition: OperationDefinition
  let route: String?
  let drafted: DraftedArguments
  let lookup: DraftedOperation.Lookup?
  /// The fields that the selection leaves out, with reasons.
  let omitted: [String]

  var text: String {
    let printed = Printer.print(.operation(definition))
    let mark = "\(definition.operation.rawValue) \(definition.name?.value ?? "")"
    var lines = printed.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let head = lines.firstIndex(where: { $0.hasPrefix(mark) }), lines[head].hasSuffix(" {")
    else { return printed + "\n" }
    lines[head].removeLast(2)
    let directives = directives
    lines.insert(contentsOf: directives, at: head + 1)
    lines[head + directives.count] += " {"
    return (comments + lines).joined(separator: "\n") + "\n"
  }

  private var path: String {
    route.map { "/api\($0)" } ?? "/v1/operations/\(definition.name?.value ?? "")"
  }

  private var comments: [String] {
    var lines: [String] = []
    switch definition.operation {
    case .query:
      lines += [
        "# GET \(path)",
        "# @cache: how many seconds a response is fresh, then served while it is fetched again, and",
        "# served while the API fails. Set them by how often this data changes. If the response is the same",
        "# for all callers although their credentials are forwarded, add `scope: PUBLIC`.",
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
      lines += ["# GET \(path)/stream: server-sent events, one connection upstream for all callers."]
    }
    if !drafted.omitted.isEmpty {
      lines.append("# Arguments left out: \(drafted.omitted.joined(separator: ", ")).")
    }
    if !omitted.isEmpty {
      lines.append("# Fields left out: \(omitted.joined(separator: ", ")).")
    }
    return lines
  }

  private var directives: [String] {
    var directives = route.map { ["@route(path: \"\($0)\")"] } ?? []
    if definition.operation == .query {
      directives.append(
        "@cache(maxAge: \(OperationDrafter.maxAge), staleWhileRevalidate: "
          + "\(OperationDrafter.staleWhileRevalidate), staleIfError: \(OperationDrafter.staleIfError))")
    }
    return directives
  }
}
