public import Foundation
extension Model { public init(contentsOf url: URL) throws { throw SyncError(.unreadableFile, "stub") } }
