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

    /// Runs what uses Foundation, and throws what the system said.
    static func mapping<Value>(_ body: () throws -> Value) throws(SystemFailure) -> Value {
        do {
            return try body()
        } catch {
            throw SystemFailure(error)
        }
    }

    private init(_ error: any Error) {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        for case let error? in [underlying, error as NSError] where error.domain == NSPOSIXErrorDomain {
            self.init(Int32(truncatingIfNeeded: error.code))
            return
        }
        switch (error as? CocoaError)?.code {
        case .fileWriteFileExists: self.init(EEXIST)
        case .fileNoSuchFile, .fileReadNoSuchFile: self.init(ENOENT)
        case .fileWriteNoPermission, .fileReadNoPermission: self.init(EACCES)
        case .fileWriteOutOfSpace: self.init(ENOSPC)
        default: self.init(EIO)
        }
    }
}
