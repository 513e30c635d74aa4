import FoundationEssentials

extension SettingsSources {
  /// Above any settings file written by people; a wrong path may name anything.
  private static let fileBytesMax = 1 << 20

  /// Reads the settings file and the process's environment, the only place that does.
  ///
  /// - Parameter path: nil looks for ``defaultFileName``, which may be missing; a file that was
  ///   asked for may not.
  package static func read(
    path: String?, flags: [Flag]
  ) throws(SettingsFaults) -> SettingsSources {
    let name = path ?? defaultFileName
    var file: File?
    if path != nil || FileManager.default.fileExists(atPath: name) {
      file = File(name: name, text: try text(of: name))
    }
    return SettingsSources(
      file: file, environment: ProcessInfo.processInfo.environment, flags: flags)
  }

  private static func text(of name: String) throws(SettingsFaults) -> String {
    let problem: String
    do {
      let data = try Data(contentsOf: URL(filePath: name))
      if data.count > fileBytesMax {
        problem = "is larger than \(ByteSize.print(fileBytesMax))"
      } else if let text = String(validating: data, as: UTF8.self) {
        return text
      } else {
        problem = "is not UTF-8"
      }
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      problem = "does not exist"
    } catch let error as CocoaError where error.code == .fileReadNoPermission {
      problem = "may not be read"
    } catch {
      problem = "cannot be read"
    }
    throw SettingsFaults([SettingsFault(.wholeFile(name: name), problem)])
  }
}
