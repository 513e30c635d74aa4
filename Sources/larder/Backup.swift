import ArgumentParser
import Composition

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copies the database as of now, while the service runs or not.",
    discussion: """
      The copy is a database of its own: put it into an empty data folder as larder.sqlite to \
      restore it. The key file beside the database is not in it.
      """)

  @OptionGroup var settings: SettingsOptions

  @Option(
    help: "The file to be made, which must not be there; a new one in the data folder's backups.",
    completion: .file())
  var to: String?

  func run() throws {
    StandardStreams.output(try BackupCommand(settings.load().settings, path: to).run())
  }
}
