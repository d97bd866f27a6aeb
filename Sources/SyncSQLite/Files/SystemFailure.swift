import Foundation

/// What the system says to a call that failed.
package struct SystemFailure: LocalizedError {
    package let code: Int32

    /// - Parameter code: By default, why the last call failed.
    package init(_ code: Int32 = errno) { self.code = code }

    package var message: String {
        // The system has no words for this that say what is wrong.
        code == EILSEQ ? "the name of a file or folder on the way is not UTF-8" : String(cString: strerror(code))
    }
    package var errorDescription: String? { message }
}
