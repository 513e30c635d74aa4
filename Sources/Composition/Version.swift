/// The version of this build, for `--version` and the OpenAPI document.
package enum Version {
  package static let text = "0.1.0"
}
