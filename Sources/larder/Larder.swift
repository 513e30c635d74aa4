import ArgumentParser
import Composition

@main
struct Larder: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder",
    abstract: "A cached REST API, with offline sync, over your own GraphQL operations.",
    version: Version.text,
    subcommands: [
      Init.self, Serve.self, Check.self, Routes.self, SchemaCommand.self, Doctor.self, Health.self,
      Backup.self, DecryptBackup.self, ConvertFiles.self,
      SettingsCommand.self, Generate.self,
      DemoUpstreamCommand.self,
    ])

  static func main() async {
    StandardStreams.prepare()
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as StartFailure {
      StandardStreams.error(failure.description)
      exit(withError: ExitCode(failure.kind.rawValue))
    } catch {
      exit(withError: error)
    }
  }
}
