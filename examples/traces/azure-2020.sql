-- Azure Traces for Packing 2020: requests of the first half day for virtual machines of types that machine 0 has.
-- sqlite3 -csv -header packing_trace_zone_a_v1.sqlite < azure-2020.sql > requests.csv, for azure-2020.yaml.
-- The trace has no machines: write as many nodes of 1,000 cores and 1,000,000 KiB, azure.com/ssd and azure.com/nic as there are to be.
select
  'vm-' || vm.vmId as name, tenantId as tenant, vm.vmTypeId as type, priority, core, memory, ssd, nic,
  max(starttime, 0) * 86400 as created, endtime * 86400 as deleted
from vm join vmType on vm.vmTypeId = vmType.vmTypeId and vmType.machineId = 0
where starttime < 0.5
order by starttime, vm.vmId
