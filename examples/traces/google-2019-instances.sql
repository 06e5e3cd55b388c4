-- Google's cluster data of 2019: a row an instance, from its first SUBMIT (0) on; it runs from its last SCHEDULE (3) to its end (5 to 8).
-- For BigQuery: save the result as CSV, for google-2019-instances.yaml. Evictions and constraints have no place in a map.
select
  cast(collection_id as string) || '-' || cast(instance_index as string) as name,
  max(collection_id) as collection,
  max(priority) as priority,
  max(resource_request.cpus) as cpus,
  max(resource_request.memory) as memory,
  min(case when type = 0 then time end) / 1000000.0 as created,
  case when max(case when type between 5 and 8 then time end) > max(case when type = 3 then time end)
    then (max(case when type between 5 and 8 then time end) - max(case when type = 3 then time end)) / 1000000.0 end as runs
from instance_events
where time < 9223372036854775807
group by collection_id, instance_index
order by created, name
