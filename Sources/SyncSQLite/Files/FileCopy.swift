import Foundation

/// Copies bytes from file to file.
package enum FileCopy {
    private static let chunkSize = 1 << 20

    /// Copies a file to one that is not there yet, which only this user can read.
    ///
    /// - Throws: ``SystemFailure``.
    package static func copy(_ source: String, toNew target: String) throws {
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure() }
        defer { close(descriptor) }
        try copy(source, into: descriptor)
    }

    /// Writes what is in a file where an open one is.
    ///
    /// - Throws: ``SystemFailure``.
    package static func copy(_ source: String, into target: Int32) throws {
        let descriptor = open(source, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure() }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: chunkSize)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw SystemFailure() }
            try buffer.withUnsafeBytes { try write(UnsafeRawBufferPointer(rebasing: $0.prefix(count)), into: target) }
        }
    }

    /// Writes all of the bytes.
    ///
    /// - Throws: ``SystemFailure``.
    package static func write(_ bytes: UnsafeRawBufferPointer, into target: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Foundation.write(target, part.baseAddress, part.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw SystemFailure() }
            rest = rest.dropFirst(count)
        }
    }
}
