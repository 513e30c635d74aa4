import ArgumentParser
import Composition

struct DecryptBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decrypt-backup",
    abstract: "Decrypts a backup that was made with data.encryption.",
    discussion: """
      The key is read from LARDER_KEY. To restore the backup, write the database to an empty data \
      folder as larder.sqlite.
      """)

  @Argument(help: "The encrypted backup.", completion: .file())
  var backup: String

  @Option(help: "The database to create, which must not exist.", completion: .file())
  var to: String

  func run() throws {
    StandardStreams.output(try DecryptBackupCommand(source: backup, target: to).run())
  }
}

struct ConvertFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert-files",
    abstract: "Encrypts or decrypts the stored files, as data.encryption says.",
    discussion: """
      The service must be stopped, and the key is read from LARDER_KEY. An interrupted conversion \
      continues where it ended when the command is run again.
      """)

  @OptionGroup var settings: SettingsOptions

  func run() throws {
    StandardStreams.output(try ConvertFilesCommand(settings.load().settings).run())
  }
}
