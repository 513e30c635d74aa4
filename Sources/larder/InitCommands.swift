import ArgumentParser
import Composition

struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Begins a project: settings, schema and an operation for each root field of an API.",
    discussion: """
      It introspects the API, writes larder.yaml, schema.graphql and operations/, checks them, and tries three \
      requests on a temporary service. Nothing is written over, and after a failure nothing is left. The values of \
      headers are secrets and are not written: larder.yaml names the variable to set.

      Examples:
        larder init https://api.example.com/graphql
        larder init https://api.example.com/graphql --header "Authorization: Bearer $TOKEN" --output my-api

      Exit statuses: 64 for the command line, 65 for a faulty schema or manifest, 66 for a file that cannot be read, 73 for a folder that cannot be \
      used, 75 if there is no schema from the API.
      """)

  @Argument(help: "The address of the GraphQL endpoint.")
  var url: String

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "A header field to send with every call, such as a credential; can be repeated.",
      valueName: "name: value"))
  var header: [String] = []

  @Option(help: "The folder to write to.", completion: .directory)
  var output = "."

  @Option(
    help: ArgumentHelp("Where the service is to listen, for larder.yaml.", valueName: "host:port"))
  var listen = "127.0.0.1:8080"

  @Option(
    help: ArgumentHelp(
      "A file with the schema, as SDL or as the response to an introspection query.",
      valueName: "file"),
    completion: .file(extensions: ["graphql", "json"]))
  var schema: String?

  @Option(
    help: ArgumentHelp(
      "Write the operations of a manifest of persisted documents (Apollo, Relay) instead.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var fromManifest: String?

  func run() async throws {
    defer { ShippedFiles.removeUnpacked() }
    var request = InitCommand.Request(url: url)
    request.headers = header
    request.folder = output.count > 1 && output.hasSuffix("/") ? String(output.dropLast()) : output
    request.listen = listen
    request.schemaFile = schema
    request.manifestFile = fromManifest
    try await InitCommand(request).run()
  }
}
