import FoundationEssentials
import GraphQL
import LosslessJSON
import Model
import Upstream

/// The `init` command: begins a project from an upstream's schema, and shows that it works.
package struct InitCommand {
  package struct Request: Sendable {
    package var url: String
    /// Each `Name: value`.
    package var headers: [String] = []
    package var folder = "."
    /// Where the service listens by the settings that are written, `host:port`.
    package var listen = "127.0.0.1:8080"
    /// A file with the schema, as SDL or as the response to an introspection query; nil to introspect.
    package var schemaFile: String?
    /// A manifest of persisted documents, whose operations are written instead of drafts.
    package var manifestFile: String?

    package init(url: String) { self.url = url }
  }

  /// Maximum number of values of a response to an introspection query.
  private static let schemaValuesMax = 20_000_000
  /// Maximum time for one call upstream.
  private static let timeout = "5s"

  private let request: Request
  private let print: (String) -> Void

  /// - Parameter print: writes a line of output.
  package init(_ request: Request, print: @escaping (String) -> Void = StandardStreams.output) {
    self.request = request
    self.print = print
  }

  /// - Throws: `usage` for what the command line says, `noInput` for a file that cannot be read,
  ///   `upstreamUnavailable` without a schema, `faultyOperations` for a faulty schema or manifest, `dataFolder` for a folder that cannot be used. It has
  ///   written nothing then.
  package func run() async throws {
    try ProjectFiles.checkPlace(request.folder)
    let headers = try InitHeader.read(request.headers)
    try checkAddress()
    let address = try publicAddress()
    var draft = SettingsDraft(
      url: request.url, headerNames: headers.map(\.name), dialect: nil, listen: request.listen)
    let (text, schema) = try await self.schema(try load(draft, headers).settings)
    draft.dialect = SettingsDraft.dialect(url: request.url, schema: schema)
    let loaded = try load(draft, headers)
    let (operations, fragments, omitted) = try drafts(of: schema)
    let checked = try DraftCheck(
      operations, fragments: fragments,
      schema: SourceFile(path: ProjectFiles.schemaName, text: text),
      settings: RegistrySettings(loaded.settings, loaded.settings.allUpstreams[0]))
    draft.omitted = omitted + checked.omitted
    var files = ProjectFiles(settings: draft.text, schema: text, operations: checked.fragments)
    for operation in checked.operations { files.operations[operation.fileName] = operation.text }
    try files.write(to: request.folder)
    let workspace: Workspace
    do throws(StartFailure) {
      workspace = try Workspace.open(loaded)
    } catch {
      ProjectFiles.remove(from: request.folder)
      throw error
    }
    report(checked.operations, fragments: checked.fragments.count, draft.omitted)
    if let line = IgnoreFile(in: request.folder).complete() { print(line) }
    reportCheck(workspace)
    let tried = Trial.choose(from: checked.operations)
    await reportTrial(
      workspace.with(
        checked.registry(
          of: tried, schema: SourceFile(path: ProjectFiles.schemaName, text: text),
          settings: RegistrySettings(loaded.settings, loaded.settings.allUpstreams[0]))),
      tried, at: address)
    if checked.operations.contains(where: { $0.kind == .subscription }) {
      print("Subscriptions were not tried; `larder doctor` opens one.")
    }
    reportNext(headers, at: address)
  }

  // MARK: Reading

  private func checkAddress() throws(StartFailure) {
    do throws(ValueRefusal) {
      _ = try ServiceURL(parsing: request.url, schemes: ["http+unix", "http", "https"])
    } catch {
      // It can hold a password.
      let shown = request.url.contains("@") ? "" : " \(request.url.onOneLine)"
      throw StartFailure(
        .usage,
        "The address\(shown) cannot be used: \(error.reason ?? "it is not a URL"). Give the whole "
          + "address of the GraphQL endpoint, such as https://api.example.com/graphql.")
    }
  }

  /// The address of the service as curl on this machine takes it.
  private func publicAddress() throws(StartFailure) -> String {
    let address: ListenAddress
    do throws(ValueRefusal) {
      address = try ListenAddress(parsing: request.listen, in: ".")
    } catch {
      throw StartFailure(
        .usage, "--listen \(request.listen.onOneLine): \(error.reason ?? "it is no address").")
    }
    if case .unix = address {
      throw StartFailure(.usage, "--listen must be host:port; set a socket in larder.yaml.")
    }
    return ServiceAddress.url(of: address, scheme: "http")
  }

  private func load(
    _ draft: SettingsDraft, _ headers: [InitHeader]
  ) throws(StartFailure) -> LoadedSettings {
    let name = "\(request.folder)/\(ProjectFiles.settingsName)"
    var flags = [SettingsSources.Flag("upstream.timeout", value: Self.timeout)]
    if !headers.isEmpty {
      let value = JSONValue.object(headers.map { JSONMember($0.name, .string($0.value)) })
      flags.append(
        SettingsSources.Flag("upstream.headers", spelling: "--header", value: value.text))
    }
    do throws(SettingsFaults) {
      return try Settings.load(
        from: SettingsSources(file: .init(name: name, text: draft.text), flags: flags))
    } catch {
      throw StartFailure(.usage, error.description)
    }
  }

  /// The schema as SDL and as types: from the file, else from upstream.
  private func schema(_ settings: Settings) async throws -> (text: String, schema: Schema) {
    guard let path = request.schemaFile else {
      let text = try await SchemaIntrospection(
        settings.allUpstreams[0], schemaBytesMax: settings.schemaBytesMax,
        remedies: SchemaIntrospection.Remedies(
          address: "check the address",
          credential: "give a credential with --header 'Authorization: …'",
          schema: "give a schema with --schema FILE"),
        isInteractive: true
      ).sdl()
      return (text, Self.parse(text))
    }
    switch OperationFiles.read(schema: path, bytesMax: settings.schemaBytesMax) {
    case .failure(let unreadable):
      let reason =
        FileManager.default.fileExists(atPath: path)
        ? unreadable.finding.message : "the file does not exist"
      throw StartFailure(.noInput, "--schema \(path): \(reason)")
    case .success(let file):
      let text = try Self.sdl(of: file)
      return (text, Self.parse(text))
    }
  }

  /// A schema file's text as SDL: a response to an introspection query is converted.
  private static func sdl(of file: SourceFile) throws(StartFailure) -> String {
    guard file.text.first(where: { !$0.isWhitespace }) == "{" else { return file.text }
    let value: JSONValue
    do throws(JSONParseError) {
      value = try JSONValue(
        parsing: file.text, limits: JSONLimits(valuesMax: schemaValuesMax))
    } catch {
      throw StartFailure(
        .faultyOperations, "--schema \(file.path) is neither SDL nor JSON: \(error)")
    }
    do throws(Faults) {
      return try Schema.build(introspection: value).sdl
    } catch {
      throw StartFailure(.faultyOperations, "--schema \(file.path) is not a schema:\n\(error)")
    }
  }

  private static func parse(_ text: String) -> Schema {
    let (document, _) = Parser.parseRecovering(Source(name: ProjectFiles.schemaName, body: text))
    // The check of the operations reports its faults.
    return Schema.buildRecovering([document], tolerating: [.knownDirectives]).schema
  }

  private func drafts(
    of schema: Schema
  ) throws(StartFailure) -> ([DraftedOperation], [String: String], [OmittedField]) {
    guard let path = request.manifestFile else {
      let drafted = OperationDrafter.draft(schema)
      return (drafted.operations, [:], drafted.omitted)
    }
    guard FileManager.default.fileExists(atPath: path) else {
      throw StartFailure(.noInput, "--from-manifest \(path): the file does not exist")
    }
    switch OperationFiles.read(file: path) {
    case .failure(let unreadable): throw StartFailure(.noInput, unreadable.finding.description)
    case .success(let file):
      let drafts = ManifestDrafts(file)
      guard drafts.faults.isEmpty else {
        throw StartFailure(
          .faultyOperations,
          drafts.faults.prefix(20).map(\.description).joined(separator: "\n")
            + "\nNothing was written.")
      }
      return (drafts.operations, drafts.fragments, drafts.omitted)
    }
  }

  // MARK: Reporting

  private func report(
    _ operations: [DraftedOperation], fragments: Int, _ omitted: [OmittedField]
  ) {
    let place = request.folder == "." ? "" : "\(request.folder)/"
    let more = fragments > 0 ? " and \(fragments.counted("fragment"))" : ""
    print(
      "Written: \(place)\(ProjectFiles.settingsName), \(place)\(ProjectFiles.schemaName), and "
        + "\(operations.count.counted("operation"))\(more) in \(place)\(ProjectFiles.operationsName):"
    )
    for operation in operations.prefix(Self.shownMax) {
      let path = operation.route.map { "/api\($0)" } ?? "/v1/operations/\(operation.name)"
      let suffix = operation.kind == .subscription ? "/stream" : ""
      let method = operation.kind == .mutation ? "POST" : "GET "
      print("  \(method) \(path)\(suffix)  (\(operation.name))")
    }
    reportRest(of: operations.count)
    if !omitted.isEmpty {
      print("Left out:")
      for field in omitted.prefix(Self.shownMax) { print("  \(field.line)") }
      reportRest(of: omitted.count)
    }
    reportSelections(operations.filter { !$0.omitted.isEmpty })
  }

  /// - Parameter operations: those that leave fields out.
  private func reportSelections(_ operations: [DraftedOperation]) {
    guard !operations.isEmpty else { return }
    print("Not selected, apart from objects within objects; the comments in the files say it too:")
    for operation in operations.prefix(Self.shownMax) {
      print("  \(operation.name):")
      for line in OmittedSelection.lines(operation.omitted) { print("    \(line)".onOneLine) }
    }
    reportRest(of: operations.count)
  }

  /// The maximum number of lines of a list.
  private static let shownMax = 40

  private func reportRest(of count: Int) {
    if count > Self.shownMax { print("  … and \(count - Self.shownMax) more") }
  }

  private func reportCheck(_ workspace: Workspace) {
    let count = workspace.registry.operations.count.counted("operation")
    let warnings = workspace.warnings.count
    print(
      "Checked: \(count), no faults"
        + (warnings > 0 ? ", \(warnings.counted("warning")): see `larder check`." : "."))
  }

  private func reportTrial(
    _ workspace: Workspace, _ operations: [DraftedOperation], at address: String
  ) async {
    let needsUser = workspace.settings.hasServiceCredentials
    print("")
    do {
      let lines = try await Trial.run(
        workspace, operations, shownAddress: address, needsUser: needsUser)
      print(
        "Tried on a temporary service, which has ended\(needsUser ? ", as a signed-in user" : ""):")
      for line in lines { print(line) }
      if lines.contains(where: { $0.hasPrefix("    4") || $0.hasPrefix("    5") }) {
        print("A request failed; `larder doctor` examines the API and the settings.")
      }
    } catch {
      print("The operations were not tried: \("\(error)".onOneLine)")
    }
  }

  private func reportNext(_ headers: [InitHeader], at address: String) {
    var lines = ["", "Next:"]
    if request.folder != "." { lines.append("  cd \(request.folder)") }
    if !headers.isEmpty {
      lines.append(
        "  export \(SettingsDraft.headersVariable)='"
          + "\(SettingsDraft.headersExample(headers.map(\.name)))'   # not written to larder.yaml")
    }
    lines += [
      "  export LARDER_ADMIN_TOKEN=\"$(openssl rand -hex 32)\"   # admin.token: for /v1/admin and the console",
      "  larder serve",
    ]
    if !headers.isEmpty {
      lines.append(
        "Callers must be signed in, because the service has a credential of its own. You create accounts:\n"
          + "  curl \(address)/v1/auth/sign-up -H \"Authorization: Bearer $LARDER_ADMIN_TOKEN\""
          + " -H 'Content-Type: application/json' -d '{\"email\": \"ada@example.com\", \"password\": \"…\"}'\n"
          + "See docs/accounts.md, and @access in docs/operations.md.")
    }
    if request.url.contains("?") {
      lines.append(
        "note: the address has a query, and larder.yaml now contains it. If it is a secret, take it out and set "
          + "LARDER_UPSTREAM_URL.")
    }
    if request.manifestFile != nil {
      lines.append(
        "Clients that send the ids of the manifest need the manifest itself as the operations "
          + "(`operations: ./FILE`): see docs/graphql.md.")
    }
    lines.append(
      "The comments in operations/ say what to change; docs/operations.md has all directives. After a change: "
        + "larder check.")
    for line in lines { print(line) }
  }
}

extension Workspace {
  /// The same with other operations; as it is for nil.
  fileprivate func with(_ registry: OperationRegistry?) -> Workspace {
    guard let registry else { return self }
    return Workspace(
      loaded: loaded, registry: registry, local: .none, links: [], warnings: [])
  }
}

/// A header field of the command line.
struct InitHeader {
  let name: String
  let value: String

  /// Reads `Name: value`; the messages do not repeat values, which can be secrets.
  static func read(_ texts: [String]) throws(StartFailure) -> [InitHeader] {
    var headers: [InitHeader] = []
    for text in texts {
      guard let colon = text.firstIndex(of: ":") else {
        throw StartFailure(.usage, "--header must be 'Name: value'; one of them has no colon.")
      }
      let name = text[..<colon].filter { $0 != " " && $0 != "\t" }
      let value = text[text.index(after: colon)...].trimming { $0 == " " || $0 == "\t" }
      do throws(ValueRefusal) {
        let known = try FieldName.parse(String(name), forwarded: false)
        guard !headers.contains(where: { $0.name.lowercased() == known }) else {
          throw ValueRefusal("it is given twice")
        }
      } catch {
        throw StartFailure(
          .usage,
          "--header \(String(name).onOneLine): \(error.reason ?? "the name cannot be used").")
      }
      guard !value.isEmpty else {
        throw StartFailure(
          .usage, "--header \(name) has no value. Is the variable that it names set?")
      }
      headers.append(InitHeader(name: String(name), value: String(value)))
    }
    return headers
  }
}

extension Substring {
  /// The text without characters at both ends.
  fileprivate func trimming(_ isBlank: (Character) -> Bool) -> Substring {
    var text = self
    while let first = text.first, isBlank(first) { text.removeFirst() }
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }
}
