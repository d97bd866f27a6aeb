import Foundation
import Sync

/// Syncs small payloads one by one into an open store, as an app does.
struct Calls {
    let database: String
    let entity: String
    /// The parent as `Entity:id` or `Entity:id:relationship`; `-` for none.
    let parent: String

    /// Returns the milliseconds of each call except the first one, which warms up.
    func measure(_ payloads: [String]) async throws -> [Double] {
        let stack = try DataStack(at: URL(fileURLWithPath: database))
        let parts = parent.split(separator: ":").map(String.init)
        var options = SyncOptions()
        options.payloadKind = parts.count > 1 ? .snapshot : .delta
        let clock = ContinuousClock()
        var times: [Double] = []
        for payload in payloads {
            let data = try contents(payload)
            let start = clock.now
            if parts.count > 1 {
                let parent = SyncParent(
                    parts[0], id: .string(parts[1]), relationship: parts.count > 2 ? parts[2] : nil)
                try await Sync.changes(data, inEntity: entity, stack: stack, parent: parent, options: options)
            } else {
                try await Sync.changes(data, inEntity: entity, stack: stack, options: options)
            }
            times.append(start.duration(to: clock.now).seconds * 1000)
        }
        try stack.close()
        return Array(times.dropFirst())
    }
}
