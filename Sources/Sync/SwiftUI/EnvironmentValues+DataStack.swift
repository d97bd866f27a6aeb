#if canImport(SwiftUI)
    public import SwiftUI
    public import SyncSQLite

    extension EnvironmentValues {
        private struct DataStackKey: EnvironmentKey {
            static var defaultValue: DataStack? { nil }
        }

        /// The store that ``StoreQuery`` reads in the views below.
        public var dataStack: DataStack? {
            get { self[DataStackKey.self] }
            set { self[DataStackKey.self] = newValue }
        }
    }
#endif
