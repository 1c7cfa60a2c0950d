//! LUKS disks served by nbdkit.
