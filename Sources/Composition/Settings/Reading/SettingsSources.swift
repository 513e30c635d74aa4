import FoundationEssentials

/// The sources of settings as values. Only ``read(path:flags:)`` reads them from disk and process;
/// everything else is a function of these values.
package struct SettingsSources: Sendable {
  package struct File: Sendable {
    package let name: String
    let text: String

    /// - Parameter name: the name as the operator wrote it; relative paths start from its folder.
    package init(name: String, text: String) {
      self.name = name
      // A byte order mark would become part of the first name, and YAML counts CR LF as one break.
      var scalars = text.unicodeScalars
      if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
      var normal = String.UnicodeScalarView()
      var previous: Unicode.Scalar?
      for scalar in scalars {
        if scalar == "\n", previous == "\r" { normal.removeLast() }
        normal.append(scalar)
        previous = scalar
      }
      self.text = String(normal)
    }
  }

  package struct Flag: Sendable {
    package let setting: String
    package let spelling: String
    package let value: String

    /// - Parameters:
    ///   - setting: the setting's name, such as `upstream.url`.
    ///   - spelling: the flag as the operator typed it, for messages; `--upstream.url` if nil.
    package init(_ setting: String, spelling: String? = nil, value: String) {
      self.setting = setting
      self.spelling = spelling ?? "--\(setting)"
      self.value = value
    }
  }

  package static let defaultFileName = "larder.yaml"

  package var file: File?
  package var environment: [String: String]
  /// Flags in the order of the command line; a later one wins.
  package var flags: [Flag]

  package init(file: File? = nil, environment: [String: String] = [:], flags: [Flag] = []) {
    self.file = file
    self.environment = environment
    self.flags = flags
  }

  var folder: String { file.map { FolderPath.folder(of: $0.name) } ?? "." }
}

extension SettingsSources {
  /// Maximum size of a settings file: far above any written by hand, because a wrong path can name any
  /// file.
  private static let fileBytesMax = 1 << 20

  /// Reads the settings file and the process's environment; nothing else does.
  ///
  /// - Parameter path: the settings file, which must exist; nil reads ``defaultFileName`` if it
  ///   exists.
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
      problem = "cannot be read: permission denied"
    } catch {
      problem = "cannot be read"
    }
    throw SettingsFaults([SettingsFault(.wholeFile(name: name), problem)])
  }
}
