import FoundationEssentials

/// Names of backups that were given none: by the second they were begun in.
enum BackupName {
  private static let form = Date.ISO8601FormatStyle(
    dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted,
    timeZoneSeparator: .omitted)

  /// As `larder-20260102T030405Z`.
  static func now() -> String { "larder-\(Date().formatted(form))" }
}
