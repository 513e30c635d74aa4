import FoundationEssentials
import Gateway
import Model

/// Default names of backups, from the time at which they began.
enum BackupName {
  private static let form = Date.ISO8601FormatStyle(
    dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted,
    timeZoneSeparator: .omitted, includingFractionalSeconds: true)

  /// A name such as `larder-20260102T030405.678Z`.
  static func now() -> String { "larder-\(Date().formatted(form))" }
}

/// The files of the folder for backups.
enum BackupFiles {
  /// Lists the plain files of a folder; none if it cannot be read. Blocks.
  static func list(_ folder: String) -> [BackupFolder.Found] {
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name in
      guard let attributes = try? files.attributesOfItem(atPath: "\(folder)/\(name)"),
        attributes[.type] as? FileAttributeType == .typeRegular,
        let bytes = attributes[.size] as? UInt64,
        let modified = attributes[.modificationDate] as? Date
      else { return nil }
      return BackupFolder.Found(
        file: name, bytes: Int(clamping: bytes),
        modified: Timestamp(milliseconds: Int64(modified.timeIntervalSince1970 * 1000)))
    }
  }
}
