import Cryptography
import FoundationEssentials
import Transport

/// The files that a workspace is read from: settings, operations, schemas and local types.
struct WorkspaceFiles: Sendable {
  /// The path of the settings file, which can be missing.
  let settingsFile: String
  private let settings: Settings

  /// - Parameter settingsFile: nil for the default name.
  init(settingsFile: String?, _ settings: Settings) {
    self.settingsFile = settingsFile ?? SettingsSources.defaultFileName
    self.settings = settings
  }

  /// The paths of all files in no particular order, those of missing files included.
  var paths: Set<String> {
    var paths: Set = [settingsFile, settings.localFile]
    for upstream in settings.allUpstreams {
      paths.insert(UpstreamFiles.schemaFile(of: upstream, settings))
      paths.insert(UpstreamFiles.schemaPath(of: upstream, settings))
    }
    // A manifest, or the folder of all upstreams.
    paths.insert(settings.operationsFolder)
    paths.formUnion(OperationFiles.paths(below: settings.operationsFolder))
    return paths
  }

  /// The state of the files at one time.
  struct State: Sendable {
    var versions: [String: FileVersion]
    var digests: [String: SHA256.Digest]

    /// Returns the state with one file as it was at another time.
    func with(_ path: String, of other: State) -> State {
      var state = self
      state.versions[path] = other.versions[path]
      state.digests[path] = other.digests[path]
      return state
    }
  }

  func state() -> State { State(versions: versions(), digests: digests()) }

  /// Returns the versions of the files, without reading them.
  func versions() -> [String: FileVersion] {
    // A folder's times change with each name in it, also with those of editors' temporary files.
    let operations = settings.operationsFolder
    var isFolder = false
    let exists = FileManager.default.fileExists(atPath: operations, isDirectory: &isFolder)
    return paths.reduce(into: [:]) { versions, path in
      if path == operations, exists, isFolder { return }
      versions[path] = FileSystem.version(of: path)
    }
  }

  /// Returns digests of the files that can be read.
  func digests() -> [String: SHA256.Digest] {
    paths.reduce(into: [:]) { digests, path in
      digests[path] = FileManager.default.contents(atPath: path).map { SHA256.hash(data: $0) }
    }
  }
}
