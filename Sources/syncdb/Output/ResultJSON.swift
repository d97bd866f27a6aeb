import Foundation
import Sync

/// A sync's result for programs: the `Codable` form of `SyncResult`, keys sorted, so that two runs can be compared.
enum ResultJSON {
    static func text(_ result: SyncResult) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(result), as: UTF8.self)
    }
}
