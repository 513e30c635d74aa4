import FoundationEssentials

/// Default names of backups, from the time at which they began.
enum BackupName {
  private static let form = Date.ISO8601FormatStyle(
    dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted,
    timeZoneSeparator: .omitted, includingFractionalSeconds: true)

  /// A name such as `larder-20260102T030405.678Z`.
  static func now() -> String { "larder-\(Date().formatted(form))" }
}
