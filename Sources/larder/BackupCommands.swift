import ArgumentParser
import Composition

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Backs up the database, whether the service runs or not.",
    discussion: """
      The backup is a complete database; larder restore puts it back. It does not contain the key file \
      of the data folder. With data.encryption it is encrypted; decrypt-backup makes the database of it.
      """)

  @OptionGroup var settings: SettingsOptions

  @Option(
    help: "The file to create, which must not exist (default: a new one in the folder backups).",
    completion: .file())
  var to: String?

  func run() throws {
    let line = ProgressLine("Backing up")
    defer { line.end() }
    let path = try BackupCommand(settings.load().settings, path: to, progress: line.progress).run()
    line.end()
    StandardStreams.output(path)
  }
}

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Puts a backup, or the database of a moment, into the place of the data folder's database.",
    discussion: """
      The service must be stopped. The backup is verified first: every page, the version that wrote it, \
      and the key, which is larder.key of the data folder or LARDER_KEY. A database that is there is \
      replaced only with --force, and kept in a new folder replaced-… of the data folder. Files are not \
      part of a backup.

      With --at, the database is made of a snapshot and the log of standby.folder or standby.bucket: of all \
      commits up to that time.

      larder restore --at 2026-11-28T01:02:03Z --set data=./then
      """)

  @Argument(
    help: "The backup, of larder backup or POST /v1/admin/backup; encrypted or not.",
    completion: .file())
  var backup: String?

  @Option(
    help: ArgumentHelp(
      "Restore this moment from the log of the standby (RFC 3339; UTC without a zone).",
      valueName: "time"))
  var at: String?

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Replace the database that the data folder has; it is kept.")
  var force = false

  func validate() throws {
    guard (backup == nil) != (at == nil) else {
      throw ValidationError("Name a backup, or a time with --at.")
    }
  }

  func run() async throws {
    let line = ProgressLine("Restoring")
    defer { line.end() }
    let settings = try settings.load().settings
    var report = ""
    if let at {
      report = try await RestoreAtCommand(
        settings, at: at, replaces: force, progress: line.progress
      ).run()
    } else if let backup {
      report = try RestoreCommand(
        settings, backup: backup, replaces: force, progress: line.progress
      ).run()
    }
    line.end()
    StandardStreams.output(report)
  }
}

struct DecryptBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decrypt-backup",
    abstract: "Decrypts a backup that was made with data.encryption.",
    discussion: """
      The key is read from LARDER_KEY. To restore a backup, use larder restore, which decrypts it too.
      """)

  @Argument(help: "The encrypted backup.", completion: .file())
  var backup: String

  @Option(help: "The database to create, which must not exist.", completion: .file())
  var to: String

  func run() throws {
    let line = ProgressLine("Decrypting")
    defer { line.end() }
    let path = try DecryptBackupCommand(source: backup, target: to, progress: line.progress).run()
    line.end()
    StandardStreams.output(path)
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
    let line = ProgressLine("Converting")
    defer { line.end() }
    let report = try ConvertFilesCommand(settings.load().settings, progress: line.progress).run()
    line.end()
    StandardStreams.output(report)
  }
}
