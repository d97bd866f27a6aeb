import Foundation

/// An error, and what there is to say besides: a way out, or what is done already.
struct RemarkedError: LocalizedError {
    let error: any Error
    let remark: VisibleText

    var errorDescription: String? { "\(error.localizedDescription)\n\(remark.text)" }
}
