package import Model

/// The client's body straight from upstream's answer.
package enum AnswerRenderer {
  /// `{"data":…}` with what Larder asked for alone taken out, then `errors` where there are some.
  /// Everything else has upstream's own bytes, without white space between them.
  package static func render(_ answer: UpstreamAnswer, selection: Model.Selection) -> [UInt8] {
    preconditionFailure("being written")
  }
}
