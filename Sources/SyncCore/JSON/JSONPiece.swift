package import Foundation

/// A part of a JSON document that holds whole records, and where it stands.
package struct JSONPiece: Sendable {
    /// Where a piece begins in its document.
    package struct Place: Sendable {
        /// How many bytes are before it, how many lines end in them, and how many bytes follow the last of these.
        package private(set) var offset = 0
        private var lines = 0
        private var column = 0

        package init() {}

        var isStart: Bool { offset == 0 }

        /// Goes on to the end of `bytes`.
        mutating func advance(over bytes: UnsafeBufferPointer<UInt8>) {
            offset += bytes.count
            lines += bytes.count { $0 == .newline }
            column = bytes.lastIndex(of: .newline).map { bytes.count - $0 - 1 } ?? column + bytes.count
        }

        /// An error with its place in the document instead of in the piece.
        func absolute(_ error: SyncError) -> SyncError {
            guard let line = error.line, let found = error.column else { return error }
            var error = error
            error.line = line + lines
            error.column = line == 1 ? found + column : found
            return error
        }
    }

    package let bytes: Data
    package let place: Place
    /// Whether the document ends with it.
    package let isLast: Bool

    package init(bytes: Data, place: Place, isLast: Bool) {
        self.bytes = bytes
        self.place = place
        self.isLast = isLast
    }
}
