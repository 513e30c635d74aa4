/// The version of this build, in logs, `--version` and the OpenAPI document.
package enum Version {
  package static let text = "0.1.0"
}
