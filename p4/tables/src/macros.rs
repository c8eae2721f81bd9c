//! The words in which tables are declared.

/// Declares one table: its key and its actions as types, with conversions to rows and back.
///
/// Each field has its type and its cells: name and width in bits, as in the P4 program. The table is in the
/// control `InArtIngress` unless another is given: `Paint = "paint" in "InArtEgress"`.
///
/// ```
/// inart_tables::table! {
///     /// Color of a port.
///     Paint = "paint"
///     /// Key of `paint`.
///     key PaintKey {
///         /// The port.
///         ingress: inart_tables::PortNo = [ingress: 9],
///     }
///     /// Action of `paint`.
///     action PaintAction {
///         /// One color.
///         Plain = "plain" {
///             /// Color.
///             color: u8 = [color: 8],
///         },
///         /// None.
///         Clear = "clear",
///     }
/// }
/// ```
#[macro_export]
macro_rules! table {
    ( $(#[$doc:meta])* $table:ident = $name:literal $(#[$key_doc:meta])* key $($rest:tt)+ ) => {
        $crate::table! {
            $(#[$doc])* $table = $name in "InArtIngress" $(#[$key_doc])* key $($rest)+
        }
    };
    (
        $(#[$doc:meta])* $table:ident = $name:literal in $control:literal
        $(#[$key_doc:meta])* key $key:ident {
            $( $(#[$kf_doc:meta])* $kf:ident : $kt:ty = [$($kc:ident : $kb:literal),+] ),+ $(,)?
        }
        $(#[$action_doc:meta])* action $action:ident {
            $( $(#[$v_doc:meta])* $variant:ident = $v_name:literal
                $({ $( $(#[$f_doc:meta])* $f:ident : $t:ty = [$($c:ident : $b:literal),+] ),+ $(,)? })?
            ),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $table {}

        $(#[$key_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $key { $( $(#[$kf_doc])* pub $kf: $kt, )+ }

        $(#[$action_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $action { $( $(#[$v_doc])* $variant $({ $( $(#[$f_doc])* $f: $t, )+ })?, )+ }

        impl $action {
            fn row_of(&self, key: Option<Vec<u64>>) -> $crate::Row {
                #[allow(unused_mut)]
                let mut params = Vec::new();
                let name = match self {
                    $( $action::$variant $({ $($f),+ })? => {
                        $( $( $crate::Cells::put($f, &mut params); )+ )?
                        $v_name
                    } )+
                };
                let table = <$table as $crate::Table>::SPEC;
                let action = table.action(name).expect("the declaration lists its own actions");
                $crate::Row { table, key, action, params }
            }

            #[allow(unused_variables, unused_mut)]
            fn of_row(row: &$crate::Row) -> Result<Self, $crate::Foreign> {
                let key = row.key.as_deref().unwrap_or_default();
                let key = $crate::KeyCells::new(row.table.key, key);
                let mut params = row.params.iter().copied();
                match row.action.name {
                    $( $v_name => Ok($action::$variant $({ $(
                        $f: $crate::Cells::take(&mut params, &key)
                            .ok_or_else(|| $crate::Foreign::new(row, concat!(stringify!($f), " is out of range")))?,
                    )+ })?), )+
                    other => Err($crate::Foreign::new(row, concat!($name, " has no such action"))),
                }
            }
        }

        impl $crate::Table for $table {
            const SPEC: &'static $crate::TableSpec = &$crate::TableSpec {
                name: $name,
                full_name: concat!($control, ".", $name),
                key: &[$( $( $crate::Field {
                    name: stringify!($kc), bits: $kb, port: <$kt as $crate::Cells>::PORT,
                }, )+ )+],
                actions: &[$( $crate::ActionSpec {
                    name: $v_name,
                    full_name: concat!($control, ".", $v_name),
                    params: &[$( $( $( $crate::Field {
                        name: stringify!($c), bits: $b, port: <$t as $crate::Cells>::PORT,
                    }, )+ )+ )?],
                }, )+],
            };
            type Key = $key;
            type Action = $action;

            fn row(key: &$key, action: &$action) -> $crate::Row {
                let mut cells = Vec::with_capacity(Self::SPEC.key.len());
                $( $crate::Cells::put(&key.$kf, &mut cells); )+
                action.row_of(Some(cells))
            }

            fn default_row(action: &$action) -> $crate::Row {
                action.row_of(None)
            }

            fn entry(row: &$crate::Row) -> Result<($key, $action), $crate::Foreign> {
                let cells = match &row.key {
                    Some(cells) if row.table == Self::SPEC => cells,
                    _ => return Err($crate::Foreign::new(row, concat!("no entry of ", $name))),
                };
                let of_key = $crate::KeyCells::new(Self::SPEC.key, cells);
                let mut cells = cells.iter().copied();
                let key = $key { $(
                    $kf: $crate::Cells::take(&mut cells, &of_key)
                        .ok_or_else(|| $crate::Foreign::new(row, concat!(stringify!($kf), " is out of range")))?,
                )+ };
                Ok((key, $action::of_row(row)?))
            }

            fn default_action(row: &$crate::Row) -> Result<$action, $crate::Foreign> {
                match row.key {
                    None if row.table == Self::SPEC => $action::of_row(row),
                    _ => Err($crate::Foreign::new(row, concat!("no default action of ", $name))),
                }
            }
        }
    };
}

/// Declares all tables of the program, in the order in which they are written: each one's place in
/// `SwitchTables`, its declaration for [`table!`], and the default action, if the controller writes it.
macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $field:ident : $table:ident = $name:literal $(in $control:literal)?
            $(default $default:ident : $default_item:ident = $value:path)?
        { $($declaration:tt)* }
    )+) => {
        $( $crate::table! { $(#[$doc])* $table = $name $(in $control)? $($declaration)* } )+

        /// All tables, in the order in which they are written.
        pub const SPECS: &[&TableSpec] = &[$( <$table as Table>::SPEC, )+];

        /// Tables whose default action the controller writes.
        pub const DEFAULTS: &[&TableSpec] = &[$( $({ let _ = $value; <$table as Table>::SPEC },)? )+];

        /// Everything the controller writes on one switch.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct SwitchTables {
            $(
                $(#[$doc])*
                pub $field: BTreeMap<<$table as Table>::Key, <$table as Table>::Action>,
                $( #[doc = concat!("Default action of `", $name, "`.")] pub $default: <$table as Table>::Action, )?
            )+
            /// Multicast groups.
            pub groups: BTreeMap<GroupId, BTreeSet<PortNo>>,
        }

        impl Default for SwitchTables {
            /// Returns a switch whose program was just loaded: no entries, and the program's default actions.
            fn default() -> Self {
                SwitchTables {
                    $( $field: BTreeMap::new(), $( $default: $value, )? )+
                    groups: BTreeMap::new(),
                }
            }
        }

        /// An entry or a default action that the controller writes. A later version may have more kinds.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Item {
            $(
                #[doc = concat!("An entry of `", $name, "`.")]
                $table(<$table as Table>::Key, <$table as Table>::Action),
                $(
                    #[doc = concat!("The default action of `", $name, "`; can only be modified.")]
                    $default_item(<$table as Table>::Action),
                )?
            )+
            /// A multicast group and its ports.
            Group(GroupId, BTreeSet<PortNo>),
        }

        impl Item {
            /// Returns the item in names and numbers.
            pub fn entity(&self) -> Entity<'_> {
                match self {
                    $(
                        Item::$table(key, action) => Entity::Row(<$table as Table>::row(key, action)),
                        $( Item::$default_item(action) => {
                            Entity::Row(<$table as Table>::default_row(action))
                        } )?
                    )+
                    Item::Group(group, ports) => Entity::Group(*group, ports),
                }
            }

            /// Returns whether it is a default action, which is always there.
            pub fn is_default(&self) -> bool {
                match self {
                    $( $( Item::$default_item(_) => true, )? )+
                    _ => false,
                }
            }
        }

        impl std::fmt::Display for Item {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.entity().fmt(f)
            }
        }

        /// One update of one switch.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Update {
            /// Operation.
            pub op: Op,
            /// New contents; in a delete, the current ones.
            pub item: Item,
        }

        impl SwitchTables {
            /// Number of entries and groups.
            pub fn len(&self) -> usize {
                $( self.$field.len() + )+ self.groups.len()
            }

            /// Returns all entries and default actions, in names and numbers.
            pub fn rows(&self) -> Vec<Row> {
                let mut rows = Vec::with_capacity(self.len());
                $(
                    rows.extend(self.$field.iter().map(|(key, action)| <$table as Table>::row(key, action)));
                    $( rows.push(<$table as Table>::default_row(&self.$default)); )?
                )+
                rows
            }

            /// Adds the entry, or sets the default action, of a row.
            ///
            /// # Errors
            /// Returns an error if the row is not one of the controller's.
            pub fn add_row(&mut self, row: &Row) -> Result<(), Foreign> {
                match (row.table.name, row.key.is_some()) {
                    $(
                        ($name, true) => {
                            let (key, action) = <$table as Table>::entry(row)?;
                            self.$field.insert(key, action);
                            Ok(())
                        }
                        $(
                            ($name, false) => {
                                self.$default = <$table as Table>::default_action(row)?;
                                Ok(())
                            }
                        )?
                    )+
                    _ => Err(Foreign::new(row, "the controller does not write it")),
                }
            }

            /// Applies `update` to the tables, as a switch does.
            ///
            /// # Errors
            /// Returns an error for an insert of an existing item, or a modify or delete of a missing one.
            pub fn apply(&mut self, update: &Update) -> Result<(), ApplyError> {
                match &update.item {
                    $(
                        Item::$table(key, action) => update::apply(&mut self.$field, update.op, key, action),
                        $(
                            Item::$default_item(action) => {
                                self.$default = *action;
                                Ok(())
                            }
                        )?
                    )+
                    Item::Group(group, ports) => update::apply(&mut self.groups, update.op, group, ports),
                }
            }
        }

        /// Returns the updates that turn `from` into `to`, in an order in which every prefix is safe:
        /// referenced items first, removals of unused items last.
        pub fn diff(from: &SwitchTables, to: &SwitchTables) -> Vec<Update> {
            let mut make = Vec::new();
            let of_group = |op, group, ports| Update { op, item: Item::Group(group, ports) };
            let mut removals = vec![update::compare(&from.groups, &to.groups, &mut make, of_group)];
            $(
                let of_entry = |op, key, action| Update { op, item: Item::$table(key, action) };
                removals.push(update::compare(&from.$field, &to.$field, &mut make, of_entry));
                $(
                    if from.$default != to.$default {
                        make.push(Update { op: Op::Modify, item: Item::$default_item(to.$default) });
                    }
                )?
            )+
            make.extend(removals.into_iter().rev().flatten());
            make
        }

        /// Capacities of a switch that runs a compiled program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Limits {
            /// Aggregation slots.
            pub slots: u32,
            /// Ports.
            pub ports: u16,
            $( #[doc = concat!("Entries of `", $name, "`.")] pub $field: usize, )+
        }

        impl Limits {
            /// Returns the limits of a program with these tables; a table that it does not have holds
            /// nothing.
            pub fn new(slots: u32, ports: u16, tables: &[ProgramTable]) -> Self {
                let size = |name| {
                    tables.iter().find(|table| table.name == name).map_or(0, |table| table.size)
                };
                Limits { slots, ports, $( $field: size($name), )+ }
            }

            /// Refuses tables with more entries than there is room for.
            ///
            /// # Errors
            /// The first table that would be too full.
            pub fn check(&self, tables: &SwitchTables) -> Result<(), TableFull> {
                $( TableFull::check($name, tables.$field.len(), self.$field)?; )+
                Ok(())
            }
        }
    };
}
pub(crate) use tables;
