import Foundation

/// Why a stream cannot be read or written, in words.
enum StreamFailure {
    /// - Parameter code: The system's number for it.
    static func reason(_ code: Int32) -> String {
        // What stands in the place of a closed stream (see ``Descriptors``) can be told by this alone.
        code == EBADF ? "it is closed" : String(cString: strerror(code))
    }

    /// What Foundation throws is often no more than a wrapper round the system's number.
    static func reason(_ error: any Error) -> String {
        let inner = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        guard let inner, inner.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return reason(Int32(truncatingIfNeeded: inner.code))
    }
}
