import ArgumentParser
import Composition

@main
struct Larder: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder",
    abstract: "A cached REST API, with offline sync, over your own GraphQL operations.",
    discussion: ExitStatus.help,
    subcommands: [
      Init.self, Serve.self, Check.self, Routes.self, SchemaCommand.self, Doctor.self, Health.self,
      Backup.self, Restore.self, DecryptBackup.self, ConvertFiles.self, Cluster.self,
      StandbyCommand.self,
      Users.self, Devices.self, Purge.self,
      SettingsCommand.self, Generate.self,
      DemoUpstreamCommand.self, Completion.self, VersionCommand.self,
    ])

  @Flag(help: "Show the version.")
  var version = false

  func run() throws {
    guard version else { throw CleanExit.helpRequest(self) }
    StandardStreams.output(Version.text)
  }

  static func main() async {
    StandardStreams.prepare()
    let arguments = Array(CommandLine.arguments.dropFirst())
    // ArgumentParser shows its general help for a name that is no command.
    if arguments.first == "help",
      let mistake = CommandTree(help: _dumpHelp())?.mistakeOfHelp(in: arguments)
    {
      StandardStreams.error(mistake)
      exit(withError: ExitCode.validationFailure)
    }
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as StartFailure {
      StandardStreams.error(FindingColors.paint(failure.description, .ofErrors()))
      exit(withError: ExitCode(failure.kind.rawValue))
    } catch {
      if exitCode(for: error) == .validationFailure,
        let mistake = CommandTree(help: _dumpHelp())?.mistake(in: arguments)
      {
        StandardStreams.error(mistake)
        exit(withError: ExitCode.validationFailure)
      }
      exit(withError: error)
    }
  }
}
