import Foundation

/// What the system says to a call that failed.
package struct SystemFailure: LocalizedError {
    package let code: Int32

    /// - Parameter code: By default, why the last call failed.
    package init(_ code: Int32 = errno) { self.code = code }

    package var message: String { String(cString: strerror(code)) }
    package var errorDescription: String? { message }
}
