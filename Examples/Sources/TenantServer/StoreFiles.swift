import Foundation
import GRDB
import Sync

/// Copies an open store to a new file.
func backUp(_ stack: DataStack, to file: URL) async throws {
    try await stack.writer.vacuum(into: file.path)
}

/// Writes the products of a store to a file, one on each line.
func export(_ stack: DataStack, to file: URL) async throws {
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    try await stack.export("Product", as: .ndjson) { try handle.write(contentsOf: $0) }
}
