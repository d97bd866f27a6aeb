import Foundation

/// Where the text of rows is gathered, and handed on before it becomes much.
struct RowOutput {
    /// In bytes; larger pieces are not written faster.
    private static let pieceSize = 65_536

    var bytes: [UInt8] = []
    private let write: OutputFile.Write

    init(_ write: @escaping OutputFile.Write) {
        self.write = write
        bytes.reserveCapacity(2 * Self.pieceSize)
    }

    /// To be called between rows, so that a piece has its characters whole.
    mutating func passOn() throws {
        if bytes.count >= Self.pieceSize { try flush() }
    }

    mutating func flush() throws {
        guard !bytes.isEmpty else { return }
        try write(Data(bytes))
        bytes.removeAll(keepingCapacity: true)
    }
}
