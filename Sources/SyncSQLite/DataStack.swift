import Foundation
package import GRDB
public import SyncCore

/// A model and the SQLite store that keeps its rows.
public final class DataStack: Sendable {
    public let model: Model
    package let layout: StoreLayout
    package let database: any DatabaseWriter

    package init(model: Model, database: any DatabaseWriter) throws {
        self.model = model
        self.layout = StoreLayout(model.compiled)
        self.database = database
    }
}
