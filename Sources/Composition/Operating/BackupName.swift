import FoundationEssentials

/// Names of backups that were given none: by the moment they were begun at.
enum BackupName {
  private static let form = Date.ISO8601FormatStyle(
    dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted,
    timeZoneSeparator: .omitted, includingFractionalSeconds: true)

  /// As `larder-20260102T030405.678Z`.
  static func now() -> String { "larder-\(Date().formatted(form))" }
}
